#include "infino/index/vector/row_access.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

std::vector<ByteRange> RowAccess::Plan(std::vector<uint32_t> wanted, bool whole) {
  if (wanted.empty()) return {};
  std::ranges::sort(wanted);
  const auto [unused, end] = std::ranges::unique(wanted);
  wanted.erase(unused, end);
  asked_whole_ = whole || wanted.size() > index_.row_count() / 2;
  if (asked_whole_) return {index_.sections().rows};
  for (const uint32_t position : wanted) {
    if (!stretches_.empty() && stretches_.back().end == position) {
      ++stretches_.back().end;
    } else {
      stretches_.push_back({.begin = position, .end = position + 1});
    }
  }
  std::vector<ByteRange> ranges;
  ranges.reserve(stretches_.size());
  for (const Stretch& stretch : stretches_) {
    ranges.push_back(index_.Rows(stretch.begin, stretch.end));
  }
  return ranges;
}

void RowAccess::Take(Buffers bytes) {
  if (!asked_whole_) {
    bytes_ = std::move(bytes);
    return;
  }
  read_whole_ = std::make_shared<const WholeRows>(index_, std::move(bytes.front()));
  whole_ = read_whole_;
}

const uint8_t* RowAccess::FindRow(uint32_t position) const {
  const auto after = std::ranges::upper_bound(stretches_, position, {}, &Stretch::begin);
  const auto ordinal = static_cast<size_t>(after - stretches_.begin()) - 1;
  const size_t row_bytes = index_.row_bytes();
  const uint8_t* const row =
      bytes_[ordinal]->data() + (position - stretches_[ordinal].begin) * row_bytes;
  return EndsWithChecksum({row, row_bytes}) ? row : nullptr;
}

arrow::Status RowAccess::Damage(uint32_t position) const {
  return index_.Corrupt("checksum of a vector does not match: offset=" +
                        std::to_string(index_.Rows(position, position + 1).offset));
}

}  // namespace infino::vector
