#include "infino/index/text/term_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infino/common/bytes.h"
#include "infino/index/text/term_key.h"

namespace infino::text {
namespace {

constexpr uint32_t kInitialSlots = 1024;

}  // namespace

TermTable::TermTable(bool has_positions)
    : has_positions_(has_positions), mask_(kInitialSlots - 1), slots_(kInitialSlots) {}

uint32_t TermTable::FindOrAdd(const TermKey& key) {
  uint32_t at = key.hash & mask_;
  for (; slots_[at].id != kFree; at = (at + 1) & mask_) {
    const Slot& slot = slots_[at];
    if (!IsLike(slot, key)) continue;
    if (key.length <= kTermPrefixSize || RestOf(record(slot.id)) == key.rest) return slot.id;
  }
  const uint32_t id = Add(key);
  slots_[at] = {.prefix = key.prefix, .id = id, .length = key.length, .tag = TagOf(key.hash)};
  record(id).hash = key.hash;
  if (size_ > mask_ / 4 * 3) Grow();
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
  if (record.length <= kTermPrefixSize) return {};
  return AsText({arena_.At(record.rest), record.length - kTermPrefixSize});
}

void TermTable::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = static_cast<uint32_t>(slots_.size() - 1);
  for (const Slot& slot : old) {
    if (slot.id == kFree) continue;
    uint32_t at = record(slot.id).hash & mask_;
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
  for (size_t i = 0; i < std::min<size_t>(found.length, kTermPrefixSize); ++i) {
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
    const bool ends =
        left_record.length <= kTermPrefixSize || right_record.length <= kTermPrefixSize;
    if (ends) return left_record.length < right_record.length;
    return RestOf(left_record) < RestOf(right_record);
  });
  std::vector<uint32_t> ids(size_);
  std::ranges::transform(keys, ids.begin(), &Key::id);
  return ids;
}

}  // namespace infino::text
