#include "infino/index/text/term_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infino/common/bytes.h"

namespace infino::text {
namespace {

constexpr size_t kPrefixSize = 8;
constexpr uint32_t kInitialSlots = 1024;

/// N bytes as a little-endian number. Inlines to one load.
template <typename Number>
Number Load(const char* at) {
  std::array<char, sizeof(Number)> bytes;
  std::copy_n(at, sizeof(Number), bytes.begin());
  const auto value = std::bit_cast<Number>(bytes);
  if constexpr (std::endian::native == std::endian::little) return value;
  Number swapped = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    swapped |= static_cast<Number>((value >> (8 * i)) & 0xFF) << (8 * (sizeof(Number) - 1 - i));
  }
  return swapped;
}

/// The first 8 bytes as a little-endian number, zeros behind a shorter term. Loads that overlap
/// agree about the bytes they share.
uint64_t LoadPrefix(std::string_view term) {
  const size_t size = term.size();
  const char* at = term.data();
  if (size >= kPrefixSize) return Load<uint64_t>(at);
  if (size >= 4) {
    return Load<uint32_t>(at) |
           (static_cast<uint64_t>(Load<uint32_t>(at + size - 4)) << (8 * (size - 4)));
  }
  const auto byte = [at](size_t i) {
    return static_cast<uint64_t>(static_cast<uint8_t>(at[i])) << (8 * i);
  };
  return byte(0) | byte(size / 2) | byte(size - 1);
}

uint64_t ByteSwap(uint64_t value) {
  return __builtin_bswap64(value);
}

uint64_t Mix(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93;
  hash ^= hash >> 32;
  return hash;
}

uint32_t HashTerm(std::string_view term, uint64_t prefix) {
  uint64_t hash = (prefix ^ (term.size() << 56)) * 0x9E3779B97F4A7C15;
  for (size_t at = kPrefixSize; at < term.size(); at += kPrefixSize) {
    hash = Mix(hash) ^ LoadPrefix(term.substr(at, kPrefixSize));
    hash *= 0x9E3779B97F4A7C15;
  }
  return static_cast<uint32_t>(Mix(hash) >> 16);
}

}  // namespace

TermTable::TermTable(bool has_positions)
    : has_positions_(has_positions), mask_(kInitialSlots - 1), slots_(kInitialSlots) {}

TermKey MakeTermKey(std::string_view term) {
  const uint64_t prefix = LoadPrefix(term);
  return {.prefix = ByteSwap(prefix),
          .hash = HashTerm(term, prefix),
          .length = static_cast<uint16_t>(term.size()),
          .rest = term.substr(std::min(term.size(), kPrefixSize))};
}

uint32_t TermTable::FindOrAdd(const TermKey& key) {
  uint32_t at = key.hash & mask_;
  for (; slots_[at].id != kFree; at = (at + 1) & mask_) {
    if (slots_[at].hash != key.hash) continue;
    const TermRecord& found = record(slots_[at].id);
    if (found.prefix == key.prefix && found.length == key.length && RestOf(found) == key.rest) {
      return slots_[at].id;
    }
  }
  const uint32_t id = Add(key);
  slots_[at] = {.hash = key.hash, .id = id};
  if (size_ > mask_ / 8 * 5) Grow();
  return id;
}

uint32_t TermTable::Add(const TermKey& key) {
  const uint32_t id = size_++;
  if ((id & kChunkMask) == 0) {
    records_.push_back(std::make_unique<TermRecord[]>(kChunkSize));
    if (has_positions_) positions_.push_back(std::make_unique<PositionRecord[]>(kChunkSize));
  }
  TermRecord& added = record(id);
  added.prefix = key.prefix;
  added.length = key.length;
  if (!key.rest.empty()) {
    added.rest = arena_.Allocate(static_cast<uint32_t>(key.rest.size()));
    std::ranges::copy(AsBytes(key.rest), arena_.At(added.rest));
  }
  return id;
}

std::string_view TermTable::RestOf(const TermRecord& record) const {
  if (record.length <= kPrefixSize) return {};
  return AsText({arena_.At(record.rest), record.length - kPrefixSize});
}

void TermTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = static_cast<uint32_t>(slots_.size() - 1);
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    uint32_t at = slot.hash & mask_;
    while (slots_[at].id != kFree) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
}

int64_t TermTable::memory_bytes() const {
  const size_t chunk = sizeof(TermRecord) + (has_positions_ ? sizeof(PositionRecord) : 0);
  return arena_.memory_bytes() +
         static_cast<int64_t>(slots_.size() * sizeof(Slot) + records_.size() * chunk * kChunkSize);
}

void TermTable::CopyTerm(uint32_t id, std::string& out) const {
  const TermRecord& found = record(id);
  out.clear();
  for (size_t i = 0; i < std::min<size_t>(found.length, kPrefixSize); ++i) {
    out.push_back(static_cast<char>(static_cast<uint8_t>(found.prefix >> (56 - 8 * i))));
  }
  out += RestOf(found);
}

std::vector<uint32_t> TermTable::SortAndClose() {
  slots_ = {};

  struct Key {
    uint64_t prefix;
    uint32_t id;
  };

  std::vector<Key> keys(size_);
  for (uint32_t id = 0; id < size_; ++id) keys[id] = {.prefix = record(id).prefix, .id = id};
  std::ranges::sort(keys, [this](const Key& left, const Key& right) {
    if (left.prefix != right.prefix) return left.prefix < right.prefix;
    const TermRecord& left_record = record(left.id);
    const TermRecord& right_record = record(right.id);
    // Equal prefixes of terms that end within them differ only in zeros at the end.
    const bool ends = left_record.length <= kPrefixSize || right_record.length <= kPrefixSize;
    if (ends) return left_record.length < right_record.length;
    return RestOf(left_record) < RestOf(right_record);
  });
  std::vector<uint32_t> ids(size_);
  std::ranges::transform(keys, ids.begin(), &Key::id);
  return ids;
}

}  // namespace infino::text
