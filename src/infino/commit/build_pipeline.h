#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>

#include "infino/commit/row_slices.h"
#include "infino/commit/superfile_lane.h"
#include "infino/common/random.h"
#include "infino/common/scratch.h"
#include "infino/common/work_pool.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {

/// A superfile that an append made. Both places of its bytes are null once the store has them.
struct AppendedSuperfile {
  NewSuperfile superfile;
  std::string path;
  std::shared_ptr<arrow::Buffer> bytes;
  std::shared_ptr<const ScratchFile> file;
};

/// Builds superfiles from slices of rows on several lanes at once and uploads those that are full,
/// all within a budget of memory.
///
/// A lane works on one superfile at a time, on whichever pool thread is free, one slice a task; so
/// no task takes long, none waits, and every lane's ids ascend. A lane ends a superfile that is as
/// long as one may get, or whose memory reaches the lane's share of the budget although it went to
/// scratch files: long superfiles themselves, and what indexes hold above their part of the
/// share. It starts the upload, part by part from a scratch file, and goes on with the next one,
/// unless more is under way than the reserve allows, or than one scratch file a lane: then it
/// pauses until an upload ends. The superfiles in memory that are not full at the end are handed
/// back with their bytes, to be staged together with the manifest.
///
/// Used by one thread, the caller's, which alone waits. Without a pool it also does the work.
class BuildPipeline : public std::enable_shared_from_this<BuildPipeline> {
 public:
  struct Options {
    std::shared_ptr<ObjectStore> store;
    std::shared_ptr<Random> random;
    WorkPool* pool = nullptr;  ///< Outlives the pipeline's work; null: work on the calling thread.
    std::string folder;        ///< The table's.
    TableSchema schema;
    VectorSpaces spaces;  ///< Of all vector columns.
    Compression compression = Compression::kZstd;
    int64_t superfile_bytes = 0;            ///< About how long a superfile gets.
    int64_t lane_bytes = 0;                 ///< A lane's share.
    std::shared_ptr<ScratchSpace> scratch;  ///< Null: all stays in memory.
    int64_t index_bytes = 0;                ///< What a lane's indexes hold before they go there.
    int64_t file_bytes = 0;                 ///< How long a superfile in memory gets.
    int64_t reserve_bytes = 0;              ///< For finished superfiles on their way to the store.
    int64_t queue_bytes = 0;                ///< Slices that wait for a lane; one run may exceed it.
    int64_t memory_budget_bytes = 0;        ///< Above it the append fails; 0: none.
  };

  explicit BuildPipeline(Options options);

  /// Adds one more lane, and returns its number: they count from 0.
  int AddLane();

  /// Hands slices to a lane, their ids above all it had before. Waits while too many are queued.
  [[nodiscard]] arrow::Status Push(int lane, std::vector<RowSlice> slices,
                                   const StopCondition& stop);

  /// Waits for all work and uploads to end; the superfiles, in order of their lowest ids.
  [[nodiscard]] arrow::Result<std::vector<AppendedSuperfile>> Finish(const StopCondition& stop);

  /// Ends all work, as after a failure: waits for the slices that lanes are at, and deletes the
  /// superfiles in the store. An upload under way is deleted when it lands. Does nothing after
  /// Finish has succeeded.
  void Abandon();

  /// Superfiles built by now, and their bytes.
  [[nodiscard]] uint64_t superfile_count() const;
  [[nodiscard]] uint64_t built_bytes() const;

 private:
  struct Lane {
    explicit Lane(SuperfileLane made) : builder(std::move(made)) {}

    SuperfileLane builder;  ///< Used by the one step that runs.
    std::deque<RowSlice> queue;
    bool is_running = false;  ///< A step is running or submitted.
    bool is_done = false;     ///< Nothing to come, and the last superfile is built.
    int64_t memory_bytes = 0;
  };

  using Lock = std::unique_lock<std::mutex>;

  /// Whether a step of the lane has something to do and may do it now. All of these REQUIRE mutex_
  /// held; ScheduleAll submits what can run.
  [[nodiscard]] bool CanRun(const Lane& lane) const;
  void ScheduleAll();
  void Fail(arrow::Status status);
  void TellCaller();
  void Account(Lane* lane);
  void Retain(const BuiltSuperfile& built, AppendedSuperfile* file);

  /// One step of a lane: one slice, and the end of a superfile if it is full or the last.
  void Step(Lane* lane);
  void Build(Lane* lane, bool is_last, const RowSlice* slice);
  void Upload(const std::shared_ptr<AppendedSuperfile>& file);
  [[nodiscard]] arrow::Future<PutOutcome> Put(const AppendedSuperfile& file);
  void EndUpload(const std::shared_ptr<AppendedSuperfile>& file,
                 const arrow::Result<PutOutcome>& outcome);

  /// Of a superfile on its way, what is in memory.
  [[nodiscard]] int64_t UploadBytes(const AppendedSuperfile& file) const;
  [[nodiscard]] int parts_in_memory() const;

  /// Has a task of an upload run: by the pool, or the caller when it waits. Fails if there is no
  /// use in it any more.
  [[nodiscard]] arrow::Status SpawnTask(arrow::internal::FnOnce<void()> task);

  /// Lets the caller help if there is no pool, else sleeps until something changes.
  [[nodiscard]] arrow::Status Await(Lock* lock, const StopCondition& stop);
  [[nodiscard]] arrow::Status ConfirmUploads(Lock* lock, const StopCondition& stop);
  [[nodiscard]] bool IsIdle() const;

  const Options options_;
  mutable std::mutex mutex_;
  arrow::Future<> changed_ = arrow::Future<>::Make();
  arrow::Status failure_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::shared_ptr<AppendedSuperfile>> files_;
  std::vector<std::shared_ptr<AppendedSuperfile>> unconfirmed_;  ///< Their path was taken.
  std::deque<arrow::internal::FnOnce<void()>> tasks_;            ///< For the caller.
  bool is_ending_ = false;
  bool is_abandoned_ = false;
  int64_t queued_bytes_ = 0;
  int64_t uploading_bytes_ = 0;  ///< In memory.
  int64_t upload_count_ = 0;
  int64_t file_upload_count_ = 0;
  int64_t kept_bytes_ = 0;  ///< Of the superfiles that Finish will hand back with their bytes.
  int64_t filter_bytes_ = 0;
  uint64_t built_bytes_ = 0;
};

}  // namespace infino
