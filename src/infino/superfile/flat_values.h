#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/superfile/flat_layout.h"

namespace infino {

/// Values of one column on their way from pages to an array, in the order in which pages have them.
/// Holds no more than what was appended. Single-threaded.
class FlatValues {
 public:
  explicit FlatValues(FlatLayout layout);

  [[nodiscard]] const FlatLayout& layout() const { return layout_; }

  /// `stored` is as in a page. REQUIRES: it has the layout's stored width, if that is not 0.
  void Append(ByteSpan stored);

  void AppendBit(bool value);

  /// Little-endian, `stored_width` bytes of which count.
  void AppendInteger(uint64_t value);

  void AppendNull();

  [[nodiscard]] size_t size() const { return valid_.size(); }

  /// The values that `order` names by when they were appended; any may be named more than once.
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> Take(
      std::span<const uint32_t> order) const;

 private:
  [[nodiscard]] ByteSpan BytesAt(uint32_t ordinal) const;

  template <typename Offset>
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> TakeBytes(
      std::span<const uint32_t> order) const;

  template <typename Builder>
  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> TakeViews(
      std::span<const uint32_t> order) const;

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> TakeFixed(
      std::span<const uint32_t> order) const;

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> TakeBits(
      std::span<const uint32_t> order) const;

  [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> TakeValidity(
      std::span<const uint32_t> order) const;

  FlatLayout layout_;
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> ends_;  // of each value in bytes_; only of kBytes
  std::vector<uint8_t> valid_;
  bool has_null_ = false;
};

}  // namespace infino
