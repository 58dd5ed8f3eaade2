#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/util/decimal.h>

#include "infino/common/bytes.h"
#include "infino/superfile/value_counts.h"

namespace infino {

/// Hashes that are good enough for a few hundred values and cost next to nothing.
[[nodiscard]] inline uint64_t MixBits(uint64_t bits) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15U;
  constexpr int kHalf = 32;
  bits *= kOdd;
  return bits ^ (bits >> kHalf);
}

template <std::integral Number>
[[nodiscard]] uint64_t HashOfValue(Number value) {
  return MixBits(static_cast<uint64_t>(value));
}

[[nodiscard]] inline uint64_t HashOfValue(const arrow::Decimal256& value) {
  uint64_t hash = 0;
  for (const uint64_t word : value.little_endian_array()) hash = MixBits(hash ^ word);
  return hash;
}

[[nodiscard]] inline uint64_t HashOfValue(std::string_view value) {
  constexpr size_t kWord = sizeof(uint64_t);
  constexpr int kByteBits = 8;
  const ByteSpan bytes = AsBytes(value);
  uint64_t hash = bytes.size();
  size_t at = 0;
  for (; at + kWord <= bytes.size(); at += kWord) hash = MixBits(hash ^ LoadU64(&bytes[at]));
  uint64_t rest = 0;
  for (; at < bytes.size(); ++at) rest = (rest << kByteBits) | bytes[at];
  return MixBits(hash ^ rest);
}

[[nodiscard]] inline size_t SizeOfValue(std::string_view value) {
  return value.size();
}

template <typename Number>
[[nodiscard]] size_t SizeOfValue(const Number& /*value*/) {
  return sizeof(Number);
}

/// Counts how often each value is added, until a limit is passed: from then on it costs nothing
/// and knows nothing. `Value` is a number, a decimal, or std::string. Single-threaded.
template <typename Value>
class ValueCounter {
 public:
  explicit ValueCounter(const ValueCountLimits& limits) : limits_(limits), slots_(kSlotsMin) {}

  /// Whether a limit was passed.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  /// The values in the order they came, each once. REQUIRES: !gave_up().
  [[nodiscard]] const std::vector<std::pair<Value, int64_t>>& counts() const { return counts_; }

  /// Counts a value, `count` times. A view for strings.
  template <typename View>
  void Add(const View& value, int64_t count) {
    if (gave_up_) return;
    // Rows that follow each other often have the same value.
    if (last_ < counts_.size() && counts_[last_].first == value) {
      counts_[last_].second += count;
      return;
    }
    size_t slot = SlotOf(value);
    while (slots_[slot] != 0 && counts_[slots_[slot] - 1].first != value) slot = Next(slot);
    if (slots_[slot] == 0) {
      Insert(value, slot);
    } else {
      last_ = slots_[slot] - 1;
    }
    if (!gave_up_) counts_[last_].second += count;
  }

 private:
  static constexpr size_t kSlotsMin = 64;

  template <typename View>
  [[nodiscard]] size_t SlotOf(const View& value) const {
    return static_cast<size_t>(HashOfValue(value)) & (slots_.size() - 1);
  }

  [[nodiscard]] size_t Next(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  template <typename View>
  void Insert(const View& value, size_t slot) {
    const size_t size = SizeOfValue(value);
    total_bytes_ += size;
    if (counts_.size() == limits_.values || size > limits_.value_bytes ||
        total_bytes_ > limits_.total_bytes) {
      gave_up_ = true;
      counts_ = {};
      slots_ = {};
      return;
    }
    last_ = counts_.size();
    counts_.emplace_back(Value(value), 0);
    slots_[slot] = static_cast<uint32_t>(counts_.size());
    if (counts_.size() * 2 > slots_.size()) Grow();
  }

  void Grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < counts_.size(); ++i) {
      size_t slot = SlotOf(counts_[i].first);
      while (slots_[slot] != 0) slot = Next(slot);
      slots_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  ValueCountLimits limits_;
  std::vector<std::pair<Value, int64_t>> counts_;
  std::vector<uint32_t> slots_;  // 0: free; else 1 + place in counts_
  size_t last_ = 0;              // where the value before is
  size_t total_bytes_ = 0;
  bool gave_up_ = false;
};

}  // namespace infino
