#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/options.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {

inline constexpr RowId kFirstId{.high = 1'700'000'000'000, .low = uint64_t{77} << 24};

/// Field ids from 1 on; the column named `text`, if any, gets a keyword index.
[[nodiscard]] TableSchema SchemaOf(const arrow::FieldVector& fields);

/// A superfile with consecutive ids from kFirstId on.
[[nodiscard]] arrow::Result<BuiltSuperfile> BuildFrom(
    const TableSchema& schema, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
    Compression compression = Compression::kZstd);

/// Opened from memory, by its summary.
[[nodiscard]] arrow::Result<std::shared_ptr<const SuperfileReader>> OpenBuilt(
    const BuiltSuperfile& built);

/// Opened from memory, by its footer.
[[nodiscard]] arrow::Result<std::shared_ptr<const SuperfileReader>> OpenAlone(
    std::shared_ptr<arrow::Buffer> bytes);

/// A row fetch from start to end. `rounds`, if given, counts the rounds it took.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::RecordBatch>> FetchRows(
    const SuperfileReader& superfile, const std::vector<DocId>& docs,
    const std::vector<int32_t>& field_ids, int* rounds = nullptr);

/// The whole file through Parquet's own reader, as pyarrow sees it.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Table>> ReadParquet(
    const std::shared_ptr<arrow::Buffer>& bytes);

/// The rows of `batch` at `docs`, one column.
[[nodiscard]] std::shared_ptr<arrow::Array> TakeRows(const arrow::ArrayVector& chunks,
                                                     const std::vector<DocId>& docs);

/// Whether both have the same type and the same values, where dictionaries may differ in their
/// order and NaN is NaN.
[[nodiscard]] bool SameValues(const std::shared_ptr<arrow::Array>& a,
                              const std::shared_ptr<arrow::Array>& b);

/// `count` rows below `row_count`, in any order, some of them twice.
[[nodiscard]] std::vector<DocId> RandomDocs(Random& random, size_t count, int64_t row_count);

}  // namespace infino
