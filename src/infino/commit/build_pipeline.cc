#include "infino/commit/build_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>

#include "infino/commit/file_upload.h"
#include "infino/commit/row_slices.h"
#include "infino/commit/staging.h"
#include "infino/commit/superfile_lane.h"
#include "infino/common/failpoint.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/value_counts.h"
#include "infino/supertable/layout.h"

namespace infino {

BuildPipeline::BuildPipeline(Options options) : options_(std::move(options)) {}

int BuildPipeline::AddLane() {
  const std::lock_guard lock(mutex_);
  SuperfileWriterOptions superfiles{.id = {},
                                    .compression = options_.compression,
                                    .spaces = options_.spaces,
                                    .scratch = options_.scratch,
                                    .index_memory_bytes = options_.index_bytes,
                                    .file_memory_bytes = options_.file_bytes};
  lanes_.push_back(std::make_unique<Lane>(
      SuperfileLane(&options_.schema, std::move(superfiles), options_.random)));
  return static_cast<int>(lanes_.size()) - 1;
}

arrow::Status BuildPipeline::Push(int lane, std::vector<RowSlice> slices,
                                  const StopCondition& stop) {
  Lock lock(mutex_);
  while (failure_.ok() && queued_bytes_ > options_.queue_bytes) {
    ARROW_RETURN_NOT_OK(Await(&lock, stop));
    ARROW_RETURN_NOT_OK(ConfirmUploads(&lock, stop));
  }
  ARROW_RETURN_NOT_OK(failure_);
  for (RowSlice& slice : slices) {
    queued_bytes_ += slice.size_bytes;
    lanes_[static_cast<size_t>(lane)]->queue.push_back(std::move(slice));
  }
  ScheduleAll();
  return arrow::Status::OK();
}

arrow::Result<std::vector<AppendedSuperfile>> BuildPipeline::Finish(const StopCondition& stop) {
  Lock lock(mutex_);
  is_ending_ = true;
  ScheduleAll();
  while (failure_.ok() && !IsIdle()) {
    ARROW_RETURN_NOT_OK(Await(&lock, stop));
    ARROW_RETURN_NOT_OK(ConfirmUploads(&lock, stop));
  }
  ARROW_RETURN_NOT_OK(failure_);
  std::vector<AppendedSuperfile> result;
  result.reserve(files_.size());
  for (const auto& file : files_) result.push_back(std::move(*file));
  files_.clear();
  std::ranges::sort(result, {},
                    [](const AppendedSuperfile& file) { return file.superfile.entry.min_id; });
  return result;
}

void BuildPipeline::Abandon() {
  Lock lock(mutex_);
  is_abandoned_ = true;
  if (failure_.ok()) failure_ = MakeError(ErrorKind::kCancelled, "the append was abandoned");
  const auto is_running = [](const auto& lane) { return lane->is_running; };
  while (options_.pool != nullptr && std::ranges::any_of(lanes_, is_running)) {
    const arrow::Future<> changed = changed_;
    lock.unlock();
    // Not to be stopped: the steps use the pool, and end soon.
    static_cast<void>(WaitDone(changed).ok());
    lock.lock();
  }
  std::vector<std::string> paths;
  for (const auto& file : files_) {
    if (file->bytes == nullptr && file->file == nullptr) paths.push_back(file->path);
  }
  // Uploads end with their tasks.
  const auto tasks = std::exchange(tasks_, {});
  for (const auto& file : unconfirmed_) paths.push_back(file->path);
  files_.clear();
  unconfirmed_.clear();
  lanes_.clear();
  lock.unlock();
  Discard(*options_.store, paths);
}

uint64_t BuildPipeline::superfile_count() const {
  const std::lock_guard lock(mutex_);
  return files_.size();
}

uint64_t BuildPipeline::built_bytes() const {
  const std::lock_guard lock(mutex_);
  return built_bytes_;
}

bool BuildPipeline::CanRun(const Lane& lane) const {
  if (lane.is_running || lane.is_done || !failure_.ok()) return false;
  if (lane.queue.empty() && !is_ending_) return false;
  // A lane that has just ended a superfile starts the next one only into the reserve.
  return lane.memory_bytes > 0 || (uploading_bytes_ <= options_.reserve_bytes &&
                                   file_upload_count_ <= static_cast<int64_t>(lanes_.size()));
}

void BuildPipeline::ScheduleAll() {
  if (options_.pool == nullptr) return;
  for (const auto& lane : lanes_) {
    if (!CanRun(*lane)) continue;
    lane->is_running = true;
    auto task = [self = shared_from_this(), at = lane.get()] { self->Step(at); };
    const arrow::Status spawned = options_.pool->executor()->Spawn(std::move(task));
    if (!spawned.ok()) {
      lane->is_running = false;
      Fail(FromForeign(spawned, "append: can't start work"));
    }
  }
}

void BuildPipeline::Fail(arrow::Status status) {
  if (failure_.ok()) failure_ = std::move(status);
}

void BuildPipeline::TellCaller() {
  arrow::Future<> changed = std::exchange(changed_, arrow::Future<>::Make());
  changed.MarkFinished();
}

bool BuildPipeline::IsIdle() const {
  const auto is_done = [](const auto& lane) { return lane->is_done; };
  return upload_count_ == 0 && unconfirmed_.empty() && std::ranges::all_of(lanes_, is_done);
}

void BuildPipeline::Account(Lane* lane) {
  lane->memory_bytes = lane->builder.memory_bytes();
  if (options_.memory_budget_bytes <= 0) return;
  int64_t total = kept_bytes_ + uploading_bytes_ + filter_bytes_;
  for (const auto& other : lanes_) total += other->memory_bytes;
  if (total <= options_.memory_budget_bytes) return;
  Fail(MakeError(ErrorKind::kResourceExhausted,
                 "append to " + options_.folder +
                     ": the memory budget would be exceeded during ingest; requested_bytes=" +
                     std::to_string(total) +
                     " limit_bytes=" + std::to_string(options_.memory_budget_bytes)));
}

void BuildPipeline::Step(Lane* lane) {
  std::optional<RowSlice> slice;
  bool is_last = false;
  {
    const Lock lock(mutex_);
    if (failure_.ok() && !lane->queue.empty()) {
      slice = std::move(lane->queue.front());
      lane->queue.pop_front();
      queued_bytes_ -= slice->size_bytes;
    }
    is_last = is_ending_ && lane->queue.empty();
  }
  Build(lane, is_last, slice ? &*slice : nullptr);
  const Lock lock(mutex_);
  if (failure_.ok()) Account(lane);
  lane->is_running = false;
  // What is left to come may have been decided while the slice was being built.
  if (is_last && lane->queue.empty()) lane->is_done = true;
  ScheduleAll();
  TellCaller();
}

void BuildPipeline::Build(Lane* lane, bool is_last, const RowSlice* slice) {
  arrow::Status status;
  if (slice != nullptr) status = lane->builder.Add(*slice);
  const int64_t row_count = lane->builder.row_count();
  const bool is_full = row_count > 0 && (lane->builder.memory_bytes() >= options_.lane_bytes ||
                                         lane->builder.file_bytes() >= options_.superfile_bytes);
  if (status.ok() && (is_full || (is_last && row_count > 0))) {
    {
      // Here the superfile takes most: once it is finished, only its bytes count, if any.
      const Lock lock(mutex_);
      Account(lane);
      if (!failure_.ok()) return;
    }
    arrow::Result<BuiltSuperfile> built = lane->builder.Finish();
    status = built.status();
    if (status.ok()) {
      auto file = std::make_shared<AppendedSuperfile>();
      {
        const Lock lock(mutex_);
        Retain(*built, file.get());
        files_.push_back(file);
        if (is_last && file->bytes != nullptr) kept_bytes_ += file->bytes->size();
      }
      if (!is_last || file->bytes == nullptr) Upload(file);
    }
  }
  if (status.ok()) return;
  const Lock lock(mutex_);
  Fail(KindOf(status).has_value() ? status
                                  : FromForeign(status, "append: can't build a superfile"));
}

void BuildPipeline::Retain(const BuiltSuperfile& built, AppendedSuperfile* file) {
  file->superfile.entry = MakeEntry(built.summary, options_.schema.schema_id);
  file->path = SuperfilePath(options_.folder, built.summary.id);
  file->bytes = built.bytes;
  file->file = built.file;
  built_bytes_ += static_cast<uint64_t>(built.summary.size_bytes);
  // Filters and counts stay here until the commit writes them all into one object. They only save
  // reads, so an append of very many superfiles does without those that don't fit.
  int64_t filter_bytes = 0;
  for (const TermFilter& filter : built.term_filters) filter_bytes += filter.filter->size();
  constexpr int64_t kCountBytes = sizeof(ValueCount);
  for (const ValueCounts& counts : built.value_counts) {
    for (const ValueCount& value : counts.values) {
      filter_bytes += kCountBytes + static_cast<int64_t>(value.value.size());
    }
  }
  if (filter_bytes_ + filter_bytes > options_.reserve_bytes / 2) return;
  filter_bytes_ += filter_bytes;
  file->superfile.filters = built.term_filters;
  file->superfile.counts = built.value_counts;
}

int BuildPipeline::parts_in_memory() const {
  return options_.reserve_bytes < kUploadPartBytes * 4 ? 1 : 2;
}

int64_t BuildPipeline::UploadBytes(const AppendedSuperfile& file) const {
  if (file.bytes != nullptr) return file.bytes->size();
  return std::min(file.file->size(), kUploadPartBytes * parts_in_memory());
}

arrow::Status BuildPipeline::SpawnTask(arrow::internal::FnOnce<void()> task) {
  const Lock lock(mutex_);
  ARROW_RETURN_NOT_OK(failure_);
  if (options_.pool != nullptr) {
    return FromForeign(options_.pool->executor()->Spawn(std::move(task)),
                       "append: can't start work");
  }
  tasks_.push_back(std::move(task));
  TellCaller();
  return arrow::Status::OK();
}

arrow::Future<PutOutcome> BuildPipeline::Put(const AppendedSuperfile& file) {
  if (file.bytes == nullptr) {
    return UploadFile(options_.store, file.path, file.file,
                      {.spawn = [self = shared_from_this()](
                                    auto task) { return self->SpawnTask(std::move(task)); },
                       .parts_in_memory = parts_in_memory()});
  }
  return options_.store->PutIfAbsent(file.path, file.bytes).Then([](const PutResult& put) {
    return put.outcome;
  });
}

void BuildPipeline::Upload(const std::shared_ptr<AppendedSuperfile>& file) {
  {
    const Lock lock(mutex_);
    uploading_bytes_ += UploadBytes(*file);
    ++upload_count_;
    if (file->file != nullptr) ++file_upload_count_;
  }
  Put(*file).AddCallback(
      [self = shared_from_this(), file](const arrow::Result<PutOutcome>& outcome) {
        self->EndUpload(file, outcome);
      });
}

void BuildPipeline::EndUpload(const std::shared_ptr<AppendedSuperfile>& file,
                              const arrow::Result<PutOutcome>& outcome) {
  if (outcome.ok()) INFINO_FAILPOINT("append.superfile_staged");
  const Lock lock(mutex_);
  uploading_bytes_ -= UploadBytes(*file);
  --upload_count_;
  if (file->file != nullptr) --file_upload_count_;
  if (is_abandoned_) {
    // Nobody waits any more; what can't be deleted is left to the garbage collection.
    static_cast<void>(options_.store->Delete(file->path));
    return;
  }
  if (!outcome.ok()) {
    Fail(outcome.status());
  } else if (*outcome == PutOutcome::kWritten) {
    file->bytes = nullptr;
    file->file = nullptr;
  } else {
    unconfirmed_.push_back(file);
  }
  ScheduleAll();
  TellCaller();
}

arrow::Status BuildPipeline::ConfirmUploads(Lock* lock, const StopCondition& stop) {
  while (failure_.ok() && !unconfirmed_.empty()) {
    const std::shared_ptr<AppendedSuperfile> file = unconfirmed_.back();
    lock->unlock();
    const arrow::Status confirmed =
        file->bytes != nullptr ? ConfirmStaged(*options_.store, file->path, *file->bytes, stop)
                               : ConfirmStaged(*options_.store, file->path, *file->file, stop);
    lock->lock();
    ARROW_RETURN_NOT_OK(confirmed);
    file->bytes = nullptr;
    file->file = nullptr;
    std::erase(unconfirmed_, file);
  }
  return arrow::Status::OK();
}

arrow::Status BuildPipeline::Await(Lock* lock, const StopCondition& stop) {
  if (!tasks_.empty()) {
    arrow::internal::FnOnce<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock->unlock();
    std::move(task)();
    const arrow::Status stopped = CheckStop(stop);
    lock->lock();
    return stopped;
  }
  if (options_.pool == nullptr) {
    const auto ready =
        std::ranges::find_if(lanes_, [this](const auto& lane) { return CanRun(*lane); });
    if (ready != lanes_.end()) {
      Lane* const lane = ready->get();
      lane->is_running = true;
      lock->unlock();
      Step(lane);
      const arrow::Status stopped = CheckStop(stop);
      lock->lock();
      return stopped;
    }
  }
  const arrow::Future<> changed = changed_;
  lock->unlock();
  const arrow::Status waited = WaitDone(changed, stop);
  lock->lock();
  return waited;
}

}  // namespace infino
