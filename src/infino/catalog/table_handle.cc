#include "infino/catalog/table_handle.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "infino/catalog/declared_schema.h"
#include "infino/catalog/runtime.h"
#include "infino/catalog/session.h"
#include "infino/error.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/get_executor.h"
#include "infino/query/text_executor.h"
#include "infino/query/vector_executor.h"
#include "infino/search.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

class TableHandle final : public Table {
 public:
  TableHandle(std::shared_ptr<Session> session, std::string name, std::string folder)
      : session_(std::move(session)), name_(std::move(name)), folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }

  arrow::Result<std::shared_ptr<arrow::Schema>> GetSchema() override {
    using Schema = std::shared_ptr<arrow::Schema>;
    return Read<Schema>({}, [](const Runtime&, const Snapshot& snapshot) -> arrow::Result<Schema> {
      return snapshot.root.schema.ToArrow();
    });
  }

  arrow::Result<IndexSpec> GetIndexSpec() override {
    return Read<IndexSpec>(
        {}, [](const Runtime&, const Snapshot& snapshot) -> arrow::Result<IndexSpec> {
          return IndexSpecOf(snapshot.root.schema);
        });
  }

  arrow::Result<TableStats> Stats() override {
    return Read<TableStats>(
        {}, [](const Runtime&, const Snapshot& snapshot) -> arrow::Result<TableStats> {
          const ManifestTotals& totals = snapshot.root.totals;
          return TableStats{.version = snapshot.version(),
                            .rows = static_cast<uint64_t>(totals.live_row_count()),
                            .superfiles = static_cast<uint64_t>(totals.superfile_count),
                            .bytes = static_cast<uint64_t>(totals.size_bytes)};
        });
  }

  arrow::Result<AppendResult> Append(std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const AppendOptions& options) override {
    if (rows == nullptr) {
      return MakeError(ErrorKind::kInvalidArgument, "append to table '" + name_ + "': no reader");
    }
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    const std::shared_ptr<OpenedTable> table = runtime->Table(folder_);
    arrow::Result<AppendResult> result = table->writer->Append(std::move(rows), options);
    if (result.ok()) return result;
    return Explain(*runtime, *table, result.status());
  }

  arrow::Result<ChangeResult> Delete(const std::string& predicate,
                                     const ChangeOptions& options) override {
    return Change([&](TableWriter& writer) { return writer.Delete(predicate, options); });
  }

  arrow::Result<ChangeResult> Update(const std::string& predicate,
                                     std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const ChangeOptions& options) override {
    return Change(
        [&](TableWriter& writer) { return writer.Update(predicate, std::move(rows), options); });
  }

  arrow::Result<ChangeResult> Upsert(std::shared_ptr<arrow::RecordBatchReader> rows,
                                     const std::string& on, const ChangeOptions& options) override {
    return Change([&](TableWriter& writer) { return writer.Upsert(std::move(rows), on, options); });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Get(const GetRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return GetRows(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> Search(const TextSearchRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return SearchText(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> TokenMatch(const MatchRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return MatchTokens(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> ExactMatch(
      const ExactMatchRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return MatchExactly(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> VectorSearch(
      const VectorSearchRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return SearchVectors(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<std::shared_ptr<arrow::Table>> HybridSearch(
      const HybridSearchRequest& request) override {
    using Rows = std::shared_ptr<arrow::Table>;
    return Read<Rows>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return SearchHybrid(runtime.querying(), snapshot, folder_, request);
    });
  }

  arrow::Result<uint64_t> Count(const CountRequest& request) override {
    return Read<uint64_t>(request.stop, [&](const Runtime& runtime, const Snapshot& snapshot) {
      return CountMatches(runtime.querying(), snapshot, folder_, request);
    });
  }

 private:
  /// Makes a change through the table's writer.
  template <typename Call>
  arrow::Result<ChangeResult> Change(const Call& change) {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    const std::shared_ptr<OpenedTable> table = runtime->Table(folder_);
    arrow::Result<ChangeResult> result = change(*table->writer);
    if (result.ok()) return result;
    return Explain(*runtime, *table, result.status());
  }

  /// Runs `read` on the newest version that may be seen.
  template <typename T, typename Call>
  arrow::Result<T> Read(const StopCondition& stop, const Call& read) {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    const std::shared_ptr<OpenedTable> table = runtime->Table(folder_);
    const arrow::Result<std::shared_ptr<const Snapshot>> snapshot = table->loader->Current(stop);
    if (!snapshot.ok()) return Explain(*runtime, *table, snapshot.status());
    arrow::Result<T> result = read(*runtime, **snapshot);
    if (result.ok()) return result;
    return Explain(*runtime, *table, result.status());
  }

  /// Says so if a failure comes from the table having been dropped: its pointer tells, whatever was
  /// noticed first.
  arrow::Status Explain(Runtime& runtime, const OpenedTable& table, const arrow::Status& status) {
    const bool may_be_gone =
        IsError(status, ErrorKind::kNotFound) || IsError(status, ErrorKind::kCorrupt);
    if (!may_be_gone) return status;
    const bool gone = IsError(table.loader->Newest({}).status(), ErrorKind::kNotFound);
    if (!gone) return status;
    runtime.Forget(folder_);
    return MakeError(ErrorKind::kNotFound, "table '" + name_ + "' has been dropped");
  }

  std::shared_ptr<Session> session_;
  std::string name_;
  std::string folder_;
};

}  // namespace

std::shared_ptr<Table> MakeTableHandle(std::shared_ptr<Session> session, std::string name,
                                       std::string folder) {
  return std::make_shared<TableHandle>(std::move(session), std::move(name), std::move(folder));
}

}  // namespace infino
