#include "infino/manifest/value_counts_codec.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/superfile/value_counts.h"

namespace infino {

std::shared_ptr<arrow::Buffer> EncodeValueCounts(const ValueCounts& counts) {
  ByteWriter out;
  out.WriteVarint(counts.values.size());
  for (const ValueCount& value : counts.values) {
    out.WriteString(value.value);
    out.WriteVarint(static_cast<uint64_t>(value.count));
  }
  return ToBuffer(out.Take());
}

arrow::Result<ValueCounts> DecodeValueCounts(ByteSpan bytes, int32_t field_id, int64_t row_count,
                                             std::string_view object) {
  constexpr ValueCountLimits kLimits;
  ByteReader in(bytes, object);
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, in.ReadVarint(kLimits.values));
  ValueCounts counts{.field_id = field_id, .values = {}};
  counts.values.reserve(size);
  auto left = static_cast<uint64_t>(row_count);
  for (uint64_t i = 0; i < size; ++i) {
    ARROW_ASSIGN_OR_RAISE(const std::string_view value, in.ReadString());
    if (value.size() > kLimits.value_bytes) return in.Corrupt("a counted value is too long");
    if (i > 0 && value <= counts.values.back().value) {
      return in.Corrupt("counted values are out of order");
    }
    ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(left));
    if (count == 0) return in.Corrupt("a counted value does not occur");
    left -= count;
    counts.values.push_back({.value = std::string(value), .count = static_cast<int64_t>(count)});
  }
  if (!in.AtEnd()) return in.Corrupt("value counts are followed by more bytes");
  return counts;
}

}  // namespace infino
