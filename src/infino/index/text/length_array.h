#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Encodes up to kLengthChunkSize document lengths and appends them to `out`. Returns the chunk as
/// the open part describes it, its offset being where `out` ended.
[[nodiscard]] LengthChunk WriteLengthChunk(std::span<const uint32_t> lengths, ByteWriter& out);

/// How many bytes a chunk of `count` lengths takes. REQUIRES: width <= kBitWidthMax.
[[nodiscard]] uint64_t LengthChunkBytes(uint64_t count, uint32_t width);

/// The number of tokens of every document, decoded. Immutable; owns its memory and refers to
/// nothing else, so that it may be kept for the next query.
class DocLengths {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `section` is the index's whole section of lengths. kCorrupt, naming the index and the place,
  /// if a checksum is wrong or the section too short.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const DocLengths>> Decode(
      const TextIndexReader& index, ByteSpan section);

  /// For Decode.
  explicit DocLengths(Private tag) { static_cast<void>(tag); }

  /// Calls `visit` with the array of all lengths, whose elements are as small as the longest
  /// allows: what is looked up at random should fit a cache.
  template <typename Visitor>
  auto Visit(const Visitor& visit) const {
    if (!bytes_.empty()) return visit(bytes_.data());
    if (!narrow_.empty()) return visit(narrow_.data());
    return visit(wide_.data());
  }

  /// REQUIRES: doc < row_count.
  [[nodiscard]] uint32_t operator[](DocId doc) const {
    return Visit([doc](const auto* lengths) { return uint32_t{lengths[doc]}; });
  }

  /// The greatest of them.
  [[nodiscard]] uint32_t longest() const { return longest_; }

  [[nodiscard]] size_t memory_bytes() const {
    return sizeof(*this) + bytes_.size() + narrow_.size() * sizeof(uint16_t) +
           wide_.size() * sizeof(uint32_t);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::vector<uint16_t> narrow_;
  std::vector<uint32_t> wide_;
  uint32_t longest_ = 0;
};

}  // namespace infino::text
