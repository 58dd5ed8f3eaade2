#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/array/array_base.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/value_counts.h"

namespace infino {

/// Gathers the statistics of one stored column while a superfile is written. Single-threaded.
class ColumnStatsBuilder {
 public:
  /// Nested types get null counts and no bounds; dictionaries and extension types the bounds of
  /// what they stand for.
  [[nodiscard]] static std::unique_ptr<ColumnStatsBuilder> Make(
      int32_t field_id, const arrow::DataType& type, const ValueCountLimits& limits = {});

  virtual ~ColumnStatsBuilder() = default;

  /// Adds values of the type given to Make.
  [[nodiscard]] arrow::Status Add(const arrow::Array& values) { return AddTimes(values, nullptr); }

  /// Adds each of the values as often as `times` says at its place; null: once.
  [[nodiscard]] virtual arrow::Status AddTimes(const arrow::Array& values,
                                               const int64_t* times) = 0;

  /// About the values so far.
  [[nodiscard]] virtual ColumnStats Finish() const = 0;

  /// How often each value occurs. Nothing if a limit was passed, and for types whose values are not
  /// counted: floating point, nested and extension types, decimals of 256 bits.
  [[nodiscard]] virtual std::optional<ValueCounts> FinishCounts() const { return std::nullopt; }
};

/// How many bytes a bound of a column of that type has; nothing for strings and types without
/// bounds.
[[nodiscard]] std::optional<size_t> BoundLengthOf(const arrow::DataType& type);

/// How long the bounds of strings are.
inline constexpr size_t kBoundLengthMax = 32;

/// A bound and whether it is a value of the column, not just beyond them.
struct StringBound {
  std::string bound;
  bool exact = true;
};

/// The longest prefix of `value` of at most kBoundLengthMax bytes; `is_text` ends it with a whole
/// character.
[[nodiscard]] StringBound LowerBoundOf(std::string_view value, bool is_text);

/// A string of at most kBoundLengthMax bytes that is not below `value`: itself or a prefix with
/// its last character (byte, unless `is_text`) counted up. Not exact and empty if there is none.
[[nodiscard]] StringBound UpperBoundOf(std::string_view value, bool is_text);

}  // namespace infino
