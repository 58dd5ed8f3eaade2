#include "infino/commit/table_writer.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "infino/commit/append_builder.h"
#include "infino/commit/build_pipeline.h"
#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/delete_rows.h"
#include "infino/commit/row_ids.h"
#include "infino/commit/schema_growth.h"
#include "infino/commit/turn_queue.h"
#include "infino/commit/update_rows.h"
#include "infino/commit/upsert_rows.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

class QueueingTableWriter final : public TableWriter {
 public:
  QueueingTableWriter(WriterEnvironment environment, std::string folder,
                      std::shared_ptr<SnapshotLoader> loader,
                      std::shared_ptr<const PointerStore> pointer)
      : environment_(std::move(environment)),
        folder_(std::move(folder)),
        loader_(std::move(loader)),
        pointer_(std::move(pointer)),
        target_{.folder = folder_, .loader = loader_.get(), .pointer = pointer_.get()},
        ids_(environment_.clock, environment_.random) {}

  arrow::Result<AppendResult> Append(std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const AppendOptions& options) override;
  arrow::Result<ChangeResult> Delete(const std::string& predicate,
                                     const ChangeOptions& options) override;
  arrow::Result<ChangeResult> Update(const std::string& predicate,
                                     std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const ChangeOptions& options) override;
  arrow::Result<ChangeResult> Upsert(std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const std::string& on, const ChangeOptions& options) override;

  arrow::Result<TableSchema> ChangeSchema(const SchemaChange& change,
                                          const StopCondition& stop) override;

 private:
  [[nodiscard]] ChangeContext ContextOf(const ChangeOptions& options);

  const WriterEnvironment environment_;
  const std::string folder_;
  const std::shared_ptr<SnapshotLoader> loader_;
  const std::shared_ptr<const PointerStore> pointer_;
  const CommitTarget target_;
  TurnQueue queue_;
  RowIdSource ids_;  ///< Used by whose turn it is.
};

arrow::Result<AppendResult> QueueingTableWriter::Append(
    std::shared_ptr<arrow::RecordBatchReader> rows, const AppendOptions& options) {
  if (rows == nullptr) return MakeError(ErrorKind::kInvalidArgument, "append: there is no reader");
  ARROW_ASSIGN_OR_RAISE(const TurnQueue::Turn turn, queue_.Take(options.stop));
  const std::chrono::nanoseconds started = environment_.clock->Monotonic();
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const Snapshot> snapshot,
                        loader_->Current(options.stop));
  const RowId first_id = ids_.Begin();
  TableSchema schema = snapshot->root.schema;
  if (!environment_.strict_schema) {
    ARROW_ASSIGN_OR_RAISE(schema, GrowSchema(schema, *rows->schema()));
  }
  ARROW_ASSIGN_OR_RAISE(
      BuiltAppend built,
      BuildSuperfiles(environment_,
                      {.folder = folder_, .base = snapshot, .schema = schema, .first_id = first_id},
                      rows.get(), options));
  AppendResult result{.rows = built.row_count,
                      .superfiles = built.superfiles.size(),
                      .bytes = 0,
                      .version = snapshot->version()};
  if (built.row_count == 0) return result;
  ids_.End(first_id, built.row_count);
  for (const AppendedSuperfile& file : built.superfiles) {
    result.bytes += static_cast<uint64_t>(file.superfile.entry.size_bytes);
  }
  CommitRequest request = RequestOf(std::move(built), "append", started);
  request.fit = [&schema](const std::shared_ptr<const Snapshot>& base,
                          ManifestChange& change) -> arrow::Result<Fit> {
    ARROW_ASSIGN_OR_RAISE(change.schema, SchemaForFiles(base->root.schema, schema));
    return Fit::kFits;
  };
  ARROW_ASSIGN_OR_RAISE(const CommitOutcome outcome,
                        CommitChange(environment_, target_, std::move(request), options.stop));
  result.version = outcome.version;
  return result;
}

arrow::Result<TableSchema> QueueingTableWriter::ChangeSchema(const SchemaChange& change,
                                                             const StopCondition& stop) {
  // An append that is under way may take long, and fits itself to the schema in the end.
  CommitRequest request;
  request.started = environment_.clock->Monotonic();
  request.change.operation = "schema";
  TableSchema result;
  request.fit = [&](const std::shared_ptr<const Snapshot>& base,
                    ManifestChange& applied) -> arrow::Result<Fit> {
    result = base->root.schema;
    const bool has_superfiles = base->root.totals.superfile_count > 0;
    ARROW_ASSIGN_OR_RAISE(applied.schema, change(result, has_superfiles));
    if (!applied.schema) return Fit::kNothingLeft;
    result = *applied.schema;
    return Fit::kFits;
  };
  // What changes nothing is answered from the newest version, too.
  ARROW_RETURN_NOT_OK(loader_->Newest(stop).status());
  ARROW_RETURN_NOT_OK(CommitChange(environment_, target_, std::move(request), stop).status());
  return result;
}

ChangeContext QueueingTableWriter::ContextOf(const ChangeOptions& options) {
  return {.environment = &environment_, .target = &target_, .ids = &ids_, .stop = &options.stop};
}

arrow::Result<ChangeResult> QueueingTableWriter::Delete(const std::string& predicate,
                                                        const ChangeOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const TurnQueue::Turn turn, queue_.Take(options.stop));
  return DeleteRows(ContextOf(options), predicate);
}

arrow::Result<ChangeResult> QueueingTableWriter::Update(
    const std::string& predicate, std::shared_ptr<arrow::RecordBatchReader> rows,
    const ChangeOptions& options) {
  if (rows == nullptr) return MakeError(ErrorKind::kInvalidArgument, "update: there is no reader");
  ARROW_ASSIGN_OR_RAISE(const TurnQueue::Turn turn, queue_.Take(options.stop));
  return UpdateRows(ContextOf(options), predicate, *rows);
}

arrow::Result<ChangeResult> QueueingTableWriter::Upsert(
    std::shared_ptr<arrow::RecordBatchReader> rows, const std::string& on,
    const ChangeOptions& options) {
  if (rows == nullptr) return MakeError(ErrorKind::kInvalidArgument, "upsert: there is no reader");
  ARROW_ASSIGN_OR_RAISE(const TurnQueue::Turn turn, queue_.Take(options.stop));
  return UpsertRows(ContextOf(options), on, *rows);
}

}  // namespace

std::unique_ptr<TableWriter> TableWriter::Make(WriterEnvironment environment, std::string folder,
                                               std::shared_ptr<SnapshotLoader> loader,
                                               std::shared_ptr<const PointerStore> pointer) {
  return std::make_unique<QueueingTableWriter>(std::move(environment), std::move(folder),
                                               std::move(loader), std::move(pointer));
}

}  // namespace infino
