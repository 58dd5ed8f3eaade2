#include "infino/superfile/page_bounds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "infino/common/bytes.h"

namespace infino {
namespace {

constexpr uint32_t kByteBits = 8;

/// The order of numbers with a sign is that of those without once their highest bit is turned.
constexpr uint64_t kSignBit = uint64_t{1} << 63;

}  // namespace

void PageBound::Add(int64_t number) {
  least = has_value ? std::min(least, number) : number;
  greatest = has_value ? std::max(greatest, number) : number;
  has_value = true;
}

int64_t NumberOfPrefix(ByteSpan text) {
  uint64_t number = 0;
  for (size_t i = 0; i < kPrefixBytes; ++i) {
    number = (number << kByteBits) | (i < text.size() ? text[i] : 0U);
  }
  return static_cast<int64_t>(number ^ kSignBit);
}

std::array<char, kPrefixBytes> PrefixOfNumber(int64_t number) {
  std::array<char, kPrefixBytes> bytes{};
  uint64_t rest = static_cast<uint64_t>(number) ^ kSignBit;
  for (size_t i = kPrefixBytes; i-- > 0; rest >>= kByteBits) {
    bytes.at(i) = static_cast<char>(rest & 0xFF);
  }
  return bytes;
}

std::vector<PageBound> PageBounds::Of(int row_group, int leaf) const {
  const std::lock_guard lock(mutex_);
  const auto found = chunks_.find({row_group, leaf});
  return found == chunks_.end() ? std::vector<PageBound>() : found->second;
}

void PageBounds::Note(int row_group, int leaf, size_t page_count, size_t page,
                      const PageBound& bound) {
  const std::lock_guard lock(mutex_);
  std::vector<PageBound>& pages = chunks_[{row_group, leaf}];
  pages.resize(page_count);
  pages[page] = bound;
}

}  // namespace infino
