#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"

namespace infino {

/// The name of the generated key column: decimal128(38, 0), not null, first in every file.
inline constexpr std::string_view kIdColumn = "_id";

/// The field id of `_id`; declared columns count from 1.
inline constexpr int32_t kIdFieldId = 0;

/// From here on field ids are made from names: those of columns that appends add, so that appends
/// which add the same column at the same time agree on its id. Those below are counted.
inline constexpr int32_t kNamedFieldIdMin = 1 << 24;

/// How many columns a table may have unless it says otherwise.
inline constexpr int32_t kColumnsMax = 10'000;

/// The metadata key under which a field of a file schema carries its field id, in decimal.
inline constexpr std::string_view kFieldIdKey = "PARQUET:field_id";

/// The field id that a field of a file schema carries, or nothing.
[[nodiscard]] std::optional<int32_t> FieldIdOf(const arrow::Field& field);

[[nodiscard]] std::shared_ptr<arrow::Field> IdField();

/// How many numbers a vector of that type has; nothing if it is not a fixed-size list of floats.
[[nodiscard]] std::optional<uint32_t> DimensionOf(const arrow::DataType& type);

/// How one column of vectors is indexed.
struct TableVectorIndex {
  vector::VectorColumn column;

  /// Whether the vectors are in the Parquet body, too.
  bool stored = false;

  friend bool operator==(const TableVectorIndex&, const TableVectorIndex&) = default;
};

/// One declared column. The field id stays with it through every later schema change, and is what
/// files, statistics and indexes refer to.
struct TableColumn {
  int32_t field_id = 0;
  std::shared_ptr<arrow::Field> field;     ///< Name, type and nullability as declared; no metadata.
  std::optional<TextIndexOptions> text{};  ///< Set if the column has a keyword index.
  std::optional<TableVectorIndex> vector{};  ///< Set if the column has a vector index.

  /// Whether the column is in the Parquet body. An indexed column may be indexed only.
  [[nodiscard]] bool stored() const {
    return (!text.has_value() || text->stored) && (!vector.has_value() || vector->stored);
  }
};

/// The columns of a table, in declared order, and how they are indexed. A plain value.
struct TableSchema {
  int32_t schema_id = 1;      ///< One more with each change.
  int32_t last_field_id = 0;  ///< The highest one that was counted, below kNamedFieldIdMin.
  std::vector<TableColumn> columns;
  std::vector<int32_t> dropped_field_ids{};  ///< Of columns that were; ascending, never used again.
  int32_t columns_max = kColumnsMax;

  /// The column of that name, or null.
  [[nodiscard]] const TableColumn* Find(std::string_view name) const;

  /// The column of that field id, or null.
  [[nodiscard]] const TableColumn* FindById(int32_t field_id) const;

  /// Whether a column once had that field id, and is dropped.
  [[nodiscard]] bool IsDropped(int32_t field_id) const;

  /// The declared Arrow schema: no `_id`, no metadata.
  [[nodiscard]] std::shared_ptr<arrow::Schema> ToArrow() const;

  /// What stands in the Parquet body: `_id`, then the stored columns, with Parquet field ids.
  [[nodiscard]] std::shared_ptr<arrow::Schema> ToFileSchema() const;
};

}  // namespace infino
