#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/type.h>

namespace infino {

/// How the values of a flat column stand in its pages. A plain value.
struct FlatLayout {
  enum class Shape : uint8_t {
    kBit,        ///< Booleans.
    kInteger,    ///< Little-endian, four or eight bytes stored.
    kFixed,      ///< Bytes as they are.
    kBigEndian,  ///< Decimals.
    kBytes,      ///< Of any length each.
  };

  Shape shape = Shape::kFixed;
  bool nullable = true;
  size_t stored_width = 0;  ///< Bytes in a page; 0 for bits and kBytes.
  size_t width = 0;         ///< Bytes in the array; 1 for bits, 0 for kBytes.

  /// Of the array that comes of them; Conform makes the column's of it.
  std::shared_ptr<arrow::DataType> type{};
};

/// The layout of a column as SuperfileWriter writes it, or nothing if it is nested or has no
/// values: then only Parquet's reader knows it.
[[nodiscard]] std::optional<FlatLayout> FlatLayoutOf(const arrow::Field& field);

}  // namespace infino
