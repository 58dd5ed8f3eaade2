#include "infino/commit/append_builder.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/commit/build_pipeline.h"
#include "infino/commit/commit.h"
#include "infino/commit/row_coercion.h"
#include "infino/commit/row_slices.h"
#include "infino/commit/table_writer.h"
#include "infino/commit/vector_training.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/common/work_pool.h"
#include "infino/error.h"
#include "infino/manifest/points_codec.h"
#include "infino/table.h"

namespace infino {
namespace {

/// A builder pays from this many rows on, or this many bytes of input; less stays in one piece.
constexpr int64_t kLaneRows = int64_t{64} << 10;
constexpr int64_t kLaneInputBytes = int64_t{32} << 20;

/// What is dealt out to a builder at a time. Small enough that all get about the same, large enough
/// that a superfile's ids are few runs.
constexpr int64_t kRunRows = int64_t{16} << 10;
constexpr int64_t kRunInputBytes = int64_t{8} << 20;

constexpr int64_t kSliceRowsMax = int64_t{8} << 10;

/// How the memory of an append is shared out: one share for each builder, one for finished
/// superfiles on their way, one for everything else. Half of a share is what indexes may have in
/// memory. A superfile is ended when it is as long as a share would be without a budget, so that a
/// budget makes no crumbs of a table, or when its memory fills a share after all.
struct Shares {
  int lane_count = 1;
  int64_t share_bytes = 0;
  int64_t superfile_bytes = 0;
  int64_t index_bytes = 0;
  int64_t file_bytes = 0;
  int64_t reserve_bytes = 0;
  int64_t slice_bytes = 0;

  explicit Shares(const WriterEnvironment& environment) {
    constexpr int64_t kShareMin = int64_t{32} << 20;
    constexpr int kSpareShares = 2;
    constexpr int64_t kFileMax = int64_t{8} << 20;
    constexpr int64_t kFilesPerShare = 16;
    const int threads = environment.pool == nullptr ? 1 : environment.pool->thread_count();
    const auto lanes_of = [threads](int64_t memory_bytes) {
      return static_cast<int>(
          std::clamp<int64_t>(memory_bytes / kShareMin - kSpareShares, 1, std::max(threads, 1)));
    };
    int64_t total = environment.build_memory_bytes;
    superfile_bytes = std::max<int64_t>(total / (lanes_of(total) + kSpareShares), 1);
    if (environment.memory_budget_bytes > 0) {
      // Only down to one builder's least share: a smaller budget refuses what does not fit it,
      // rather than cutting the table into crumbs.
      total = std::min(total,
                       std::max(environment.memory_budget_bytes, kShareMin * (1 + kSpareShares)));
    }
    lane_count = lanes_of(total);
    share_bytes = std::max<int64_t>(total / (lane_count + kSpareShares), 1);
    index_bytes = std::max<int64_t>(share_bytes / 2, 1);
    file_bytes = std::min(share_bytes / kFilesPerShare, kFileMax);
    reserve_bytes = share_bytes;
    if (environment.memory_budget_bytes > 0) {
      // Where a share is most of the budget, indexes leave room for their superfile, and it is away
      // before the next one starts.
      constexpr int64_t kIndexMin = int64_t{1} << 20;
      const int64_t budget = environment.memory_budget_bytes;
      index_bytes = std::min(index_bytes, std::max(budget / 4, kIndexMin));
      reserve_bytes = std::clamp<int64_t>(budget - lane_count * share_bytes, 0, share_bytes);
    }
    slice_bytes =
        std::clamp(share_bytes / 16, int64_t{64} << 10, std::min(kRunInputBytes, int64_t{4} << 20));
  }
};

/// The reader's words, but for one that a client takes for something else.
std::string ReaderMessage(const arrow::Status& status) {
  constexpr std::string_view kTaken = "RecordBatch";
  std::string message = status.message();
  for (size_t at = message.find(kTaken); at != std::string::npos; at = message.find(kTaken)) {
    message.replace(at, kTaken.size(), "batch");
  }
  return message;
}

class AppendBuilder {
 public:
  AppendBuilder(const WriterEnvironment& environment, AppendDestination destination,
                const AppendOptions& options)
      : environment_(environment),
        destination_(std::move(destination)),
        options_(options),
        shares_(environment) {}

  ~AppendBuilder() {
    if (pipeline_ != nullptr && !is_finished_) pipeline_->Abandon();
  }

  AppendBuilder(const AppendBuilder&) = delete;
  AppendBuilder& operator=(const AppendBuilder&) = delete;
  AppendBuilder(AppendBuilder&&) = delete;
  AppendBuilder& operator=(AppendBuilder&&) = delete;

  arrow::Result<BuiltAppend> Run(arrow::RecordBatchReader* reader);

 private:
  arrow::Status Take(std::shared_ptr<arrow::RecordBatch> batch);
  arrow::Status GiveIds(RowSlice& slice) const;
  arrow::Status Match(const std::shared_ptr<arrow::Schema>& input);
  arrow::Status DealOut();
  int ChooseLane();
  int AddLane();
  [[nodiscard]] int ShortestLane() const;
  arrow::Status StartPipeline(WorkPool* pool);
  void ReportProgress() const;

  const WriterEnvironment& environment_;
  const AppendDestination destination_;
  const AppendOptions& options_;
  const Shares shares_;
  std::shared_ptr<BuildPipeline> pipeline_;
  bool is_finished_ = false;
  std::vector<int64_t> lane_rows_;  ///< Dealt out to each lane so far.
  int64_t dealt_rows_ = 0;
  int64_t dealt_bytes_ = 0;
  std::shared_ptr<arrow::Schema> input_schema_;
  std::shared_ptr<const RowCoercion> coercion_;
  std::vector<ReferencePoints> points_;  ///< New ones.
  uint64_t row_count_ = 0;
  std::vector<RowSlice> pending_;  ///< Read and not dealt out yet.
  int64_t pending_rows_ = 0;
  int64_t pending_bytes_ = 0;
};

arrow::Result<BuiltAppend> AppendBuilder::Run(arrow::RecordBatchReader* reader) {
  while (true) {
    ARROW_RETURN_NOT_OK(CheckStop(options_.stop));
    std::shared_ptr<arrow::RecordBatch> batch;
    const arrow::Status read = reader->ReadNext(&batch);
    if (!read.ok()) {
      return FromForeign(read.WithMessage(ReaderMessage(read)), "read the rows to append");
    }
    if (batch == nullptr) break;
    if (batch->num_rows() == 0) continue;
    ARROW_RETURN_NOT_OK(Take(std::move(batch)));
    ReportProgress();
  }
  if (row_count_ == 0) return BuiltAppend();
  // What fits one builder needs no other thread.
  if (pipeline_ == nullptr) ARROW_RETURN_NOT_OK(StartPipeline(nullptr));
  if (!pending_.empty()) {
    // Too little for a builder of its own: it goes to the one with the fewest rows.
    const int lane = lane_rows_.empty() ? AddLane() : ShortestLane();
    ARROW_RETURN_NOT_OK(pipeline_->Push(lane, std::exchange(pending_, {}), options_.stop));
  }
  BuiltAppend built{.row_count = row_count_, .superfiles = {}, .points = std::move(points_)};
  ARROW_ASSIGN_OR_RAISE(built.superfiles, pipeline_->Finish(options_.stop));
  is_finished_ = true;
  ReportProgress();
  return built;
}

arrow::Status AppendBuilder::Take(std::shared_ptr<arrow::RecordBatch> batch) {
  ARROW_RETURN_NOT_OK(Match(batch->schema()));
  ARROW_RETURN_NOT_OK(ValidateRows(*batch, row_count_));
  std::vector<RowSlice> slices = SliceRows(batch, kSliceRowsMax, shares_.slice_bytes);
  batch.reset();
  for (RowSlice& slice : slices) {
    slice.coercion = coercion_;
    slice.first_row = row_count_;
    ARROW_RETURN_NOT_OK(GiveIds(slice));
    row_count_ += static_cast<uint64_t>(slice.rows->num_rows());
    pending_rows_ += slice.rows->num_rows();
    pending_bytes_ += slice.size_bytes;
    pending_.push_back(std::move(slice));
    const bool is_first = pipeline_ == nullptr;
    const int64_t rows_max = is_first ? kLaneRows : kRunRows;
    const int64_t bytes_max =
        std::min(is_first ? kLaneInputBytes : kRunInputBytes, shares_.share_bytes);
    if (pending_rows_ < rows_max && pending_bytes_ < bytes_max) continue;
    ARROW_RETURN_NOT_OK(CheckStop(options_.stop));
    ARROW_RETURN_NOT_OK(DealOut());
  }
  return arrow::Status::OK();
}

arrow::Status AppendBuilder::GiveIds(RowSlice& slice) const {
  if (destination_.ids == nullptr) {
    slice.first_id = destination_.first_id.Plus(row_count_);
    return arrow::Status::OK();
  }
  const std::span<const RowId> left = std::span(*destination_.ids).subspan(row_count_);
  const auto count = static_cast<size_t>(slice.rows->num_rows());
  if (count > left.size()) {
    return MakeError(ErrorKind::kInternal, "build superfiles: there are more rows than ids");
  }
  slice.ids = {destination_.ids, left.first(count)};
  return arrow::Status::OK();
}

arrow::Status AppendBuilder::Match(const std::shared_ptr<arrow::Schema>& input) {
  if (coercion_ != nullptr && (input == input_schema_ || input->Equals(*input_schema_))) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(
      RowCoercion coercion,
      RowCoercion::Make(destination_.schema, *input,
                        environment_.strict_schema ? RowCoercion::UnknownNulls::kRefuse
                                                   : RowCoercion::UnknownNulls::kIgnore));
  coercion_ = std::make_shared<const RowCoercion>(std::move(coercion));
  input_schema_ = input;
  return arrow::Status::OK();
}

arrow::Status AppendBuilder::DealOut() {
  if (pipeline_ == nullptr) ARROW_RETURN_NOT_OK(StartPipeline(environment_.pool.get()));
  const int lane = ChooseLane();
  lane_rows_[static_cast<size_t>(lane)] += pending_rows_;
  dealt_rows_ += std::exchange(pending_rows_, 0);
  dealt_bytes_ += std::exchange(pending_bytes_, 0);
  return pipeline_->Push(lane, std::exchange(pending_, {}), options_.stop);
}

int AppendBuilder::ChooseLane() {
  const auto open = static_cast<int64_t>(lane_rows_.size());
  const bool pays = dealt_rows_ >= open * kLaneRows || dealt_bytes_ >= open * kLaneInputBytes;
  return open < shares_.lane_count && pays ? AddLane() : ShortestLane();
}

int AppendBuilder::AddLane() {
  lane_rows_.push_back(0);
  return pipeline_->AddLane();
}

int AppendBuilder::ShortestLane() const {
  return static_cast<int>(std::ranges::min_element(lane_rows_) - lane_rows_.begin());
}

arrow::Status AppendBuilder::StartPipeline(WorkPool* pool) {
  ARROW_ASSIGN_OR_RAISE(AppendSpaces spaces,
                        TrainForAppend(*destination_.base, pending_, *environment_.random));
  points_ = std::move(spaces.added);
  pipeline_ = std::make_shared<BuildPipeline>(
      BuildPipeline::Options{.store = environment_.store,
                             .random = environment_.random,
                             .pool = pool,
                             .folder = destination_.folder,
                             .schema = destination_.schema,
                             .spaces = std::move(spaces.spaces),
                             .compression = environment_.compression,
                             .superfile_bytes = shares_.superfile_bytes,
                             .lane_bytes = shares_.share_bytes,
                             .scratch = environment_.scratch,
                             .index_bytes = shares_.index_bytes,
                             .file_bytes = shares_.file_bytes,
                             .reserve_bytes = shares_.reserve_bytes,
                             .queue_bytes = shares_.share_bytes / 2,
                             .memory_budget_bytes = environment_.memory_budget_bytes});
  return arrow::Status::OK();
}

void AppendBuilder::ReportProgress() const {
  if (!options_.progress) return;
  AppendProgress progress{.rows_read = row_count_, .superfiles_written = 0, .bytes_written = 0};
  if (pipeline_ != nullptr) {
    progress.superfiles_written = pipeline_->superfile_count();
    progress.bytes_written = pipeline_->built_bytes();
  }
  options_.progress(progress);
}

}  // namespace

CommitRequest RequestOf(BuiltAppend built, std::string operation,
                        std::chrono::nanoseconds started) {
  CommitRequest request;
  request.started = started;
  request.change.operation = std::move(operation);
  request.change.points = std::move(built.points);
  for (AppendedSuperfile& file : built.superfiles) {
    request.written.push_back(
        {.id = file.superfile.entry.id, .size_bytes = file.superfile.entry.size_bytes});
    if (file.bytes != nullptr) {
      request.unstaged.push_back({.path = std::move(file.path), .bytes = std::move(file.bytes)});
    }
    request.change.added.push_back(std::move(file.superfile));
  }
  return request;
}

arrow::Result<BuiltAppend> BuildSuperfiles(const WriterEnvironment& environment,
                                           AppendDestination destination,
                                           arrow::RecordBatchReader* rows,
                                           const AppendOptions& options) {
  return AppendBuilder(environment, std::move(destination), options).Run(rows);
}

}  // namespace infino
