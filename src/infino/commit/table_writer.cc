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
#include "infino/commit/commit.h"
#include "infino/commit/row_ids.h"
#include "infino/commit/schema_growth.h"
#include "infino/commit/turn_queue.h"
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

CommitRequest RequestOf(BuiltAppend built, std::chrono::nanoseconds started) {
  CommitRequest request;
  request.started = started;
  request.change.operation = "append";
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

class QueueingTableWriter final : public TableWriter {
 public:
  QueueingTableWriter(WriterEnvironment environment, std::string folder,
                      std::shared_ptr<SnapshotLoader> loader,
                      std::shared_ptr<const PointerStore> pointer)
      : environment_(std::move(environment)),
        folder_(std::move(folder)),
        loader_(std::move(loader)),
        pointer_(std::move(pointer)),
        ids_(environment_.clock, environment_.random) {}

  arrow::Result<AppendResult> Append(std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const AppendOptions& options) override;

  arrow::Result<TableSchema> ChangeSchema(const SchemaChange& change,
                                          const StopCondition& stop) override;

 private:
  const WriterEnvironment environment_;
  const std::string folder_;
  const std::shared_ptr<SnapshotLoader> loader_;
  const std::shared_ptr<const PointerStore> pointer_;
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
  ARROW_ASSIGN_OR_RAISE(BuiltAppend built,
                        BuildSuperfiles(environment_,
                                        {.folder = folder_,
                                         .base = snapshot,
                                         .schema = schema,
                                         .first_id = first_id,
                                         .strict_schema = environment_.strict_schema},
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
  const CommitTarget target{.folder = folder_, .loader = loader_.get(), .pointer = pointer_.get()};
  CommitRequest request = RequestOf(std::move(built), started);
  request.adapt = [&schema](const Snapshot& base, ManifestChange* change) -> arrow::Result<bool> {
    ARROW_ASSIGN_OR_RAISE(change->schema, SchemaForFiles(base.root.schema, schema));
    return true;
  };
  ARROW_ASSIGN_OR_RAISE(result.version,
                        CommitChange(environment_, target, std::move(request), options.stop));
  return result;
}

arrow::Result<TableSchema> QueueingTableWriter::ChangeSchema(const SchemaChange& change,
                                                             const StopCondition& stop) {
  // An append that is under way may take long, and fits itself to the schema in the end.
  CommitRequest request;
  request.started = environment_.clock->Monotonic();
  request.change.operation = "schema";
  TableSchema result;
  request.adapt = [&](const Snapshot& base, ManifestChange* applied) -> arrow::Result<bool> {
    result = base.root.schema;
    const bool has_superfiles = base.root.totals.superfile_count > 0;
    ARROW_ASSIGN_OR_RAISE(applied->schema, change(base.root.schema, has_superfiles));
    if (applied->schema) result = *applied->schema;
    return applied->schema.has_value();
  };
  // What changes nothing is answered from the newest version, too.
  ARROW_RETURN_NOT_OK(loader_->Newest(stop).status());
  const CommitTarget target{.folder = folder_, .loader = loader_.get(), .pointer = pointer_.get()};
  ARROW_RETURN_NOT_OK(CommitChange(environment_, target, std::move(request), stop).status());
  return result;
}

}  // namespace

std::unique_ptr<TableWriter> TableWriter::Make(WriterEnvironment environment, std::string folder,
                                               std::shared_ptr<SnapshotLoader> loader,
                                               std::shared_ptr<const PointerStore> pointer) {
  return std::make_unique<QueueingTableWriter>(std::move(environment), std::move(folder),
                                               std::move(loader), std::move(pointer));
}

}  // namespace infino
