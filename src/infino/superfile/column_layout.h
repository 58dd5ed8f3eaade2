#pragma once

#include <cstdint>
#include <memory>

#include <arrow/result.h>
#include <arrow/table.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include "infino/options.h"

namespace infino {

/// About how many bytes of values a data page holds; with rows wider than that, one row.
inline constexpr int64_t kDataPageSize = int64_t{4} << 10;

/// How the columns of a superfile are cut into pages and encoded, decided by `sample`, its first
/// rows: dictionaries where values repeat, few rows between page boundaries where cells are wide.
/// `schema` is the Parquet schema of the sample's.
[[nodiscard]] arrow::Result<std::shared_ptr<parquet::WriterProperties>> ChooseLayout(
    const arrow::Table& sample, const parquet::SchemaDescriptor& schema, Compression compression);

}  // namespace infino
