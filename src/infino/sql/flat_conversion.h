#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <arrow/type.h>

#include "duckdb/common/types.hpp"
#include "duckdb/common/types/vector.hpp"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/page_values.h"

namespace infino::sql {

/// How the stored values of a flat column become values of a type in SQL. A plain value.
struct FlatConversion {
  enum class Kind : uint8_t {
    kBool,
    kInteger,  ///< Times `factor`, through `divisor`.
    kIntegerToDouble,
    kFloat,
    kFloatToDouble,
    kDouble,
    kHalf,
    kDecimal,
    kBytes,
    kFixedBytes,
  };

  Kind kind = Kind::kInteger;
  bool is_signed = true;
  int64_t factor = 1;
  int64_t divisor = 1;
  FlatLayout layout{};
  duckdb::LogicalType type{};
};

/// The conversion of a file's column to a column that the table declares as `declared` and that is
/// `type` in SQL: to the value that DuckDB's own Parquet reader gives. Nothing where that reader
/// has to do it.
[[nodiscard]] std::optional<FlatConversion> ConversionOf(const arrow::Field& stored,
                                                         const arrow::DataType& declared,
                                                         const duckdb::LogicalType& type);

/// Which rows of a page go where in a vector: `count` of them, those that `from` lists or those
/// from `first_from` on, to the places that `to` lists or those from `first_to` on.
struct RowMove {
  size_t count = 0;
  const uint32_t* from = nullptr;
  uint32_t first_from = 0;
  const duckdb::sel_t* to = nullptr;
  size_t first_to = 0;
};

/// Writes values of a page that has no indices into a flat vector of the conversion's type. Texts
/// and binaries point into the values' owner: the caller keeps that.
void WriteValues(const FlatConversion& conversion, const PageValues& values, const RowMove& move,
                 duckdb::Vector& out);

/// Writes values that a page has by their index: those of `dictionary`, a flat vector of the type
/// of `out`.
void WriteIndexed(const PageValues& values, const duckdb::Vector& dictionary, const RowMove& move,
                  duckdb::Vector& out);

}  // namespace infino::sql
