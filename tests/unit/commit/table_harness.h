#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/query/query_environment.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// What the tests of commits keep all their rows in: `row` int64 not null, `text` large_utf8 with a
/// keyword index.
[[nodiscard]] TableSchema RowTextTableSchema();

inline constexpr int64_t kTestNowMs = 1'700'000'000'000;

/// What a query works with, its predicates those of support/row_predicates.h.
[[nodiscard]] QueryEnvironment TestQuerying(const std::shared_ptr<ObjectStore>& store);

/// An environment without a pool, on a manual clock, with a seeded generator.
[[nodiscard]] WriterEnvironment TestEnvironment(std::shared_ptr<ObjectStore> store,
                                                uint64_t seed = 1);

/// One handle on a table, as a connection would make it.
struct TableHandle {
  std::shared_ptr<const PointerStore> pointer;
  std::shared_ptr<SnapshotLoader> loader;
  std::unique_ptr<TableWriter> writer;
};

[[nodiscard]] TableHandle OpenHandle(const WriterEnvironment& environment,
                                     const std::string& folder);

/// Rows `first_row`, `first_row` + 1, … with texts that follow from the number and `words` words.
[[nodiscard]] std::shared_ptr<arrow::RecordBatch> NumberedRows(int64_t first_row, int64_t count,
                                                               int words = 4);

/// A stream of whatever a function returns, until it returns null.
class FunctionReader final : public arrow::RecordBatchReader {
 public:
  using Next = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()>;

  FunctionReader(std::shared_ptr<arrow::Schema> schema, Next next)
      : schema_(std::move(schema)), next_(std::move(next)) {}

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    return next_().Value(batch);
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  Next next_;
};

/// A stream of `batch` alone.
[[nodiscard]] std::shared_ptr<arrow::RecordBatchReader> StreamOf(
    std::shared_ptr<arrow::RecordBatch> batch);

/// A stream of numbered rows in batches of `batch_rows`; what follows them is `end`.
[[nodiscard]] std::shared_ptr<arrow::RecordBatchReader> NumberedStream(
    int64_t first_row, int64_t count, int64_t batch_rows, arrow::Status end = arrow::Status::OK(),
    int words = 4);

struct StoredRow {
  RowId id;
  int64_t row = 0;

  friend bool operator==(const StoredRow&, const StoredRow&) = default;
};

/// Every row of a snapshot that is not deleted, in id order, read from the superfiles, whose
/// hashes, checksums and entries are verified on the way.
[[nodiscard]] arrow::Result<std::vector<StoredRow>> ReadAllRows(ObjectStore& store,
                                                                const std::string& folder,
                                                                const Snapshot& snapshot);

/// As ReadAllRows, through a loader of its own: what a new process would see.
[[nodiscard]] arrow::Result<std::vector<StoredRow>> ReadTable(const WriterEnvironment& environment,
                                                              const std::string& folder);

/// The `row` column of it, sorted.
[[nodiscard]] arrow::Result<std::vector<int64_t>> ReadRowNumbers(
    const WriterEnvironment& environment, const std::string& folder);

/// How many objects lie under `prefix`.
[[nodiscard]] int64_t CountObjects(ObjectStore& store, const std::string& prefix);

}  // namespace infino
