#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"

namespace infino {

/// Builds a split-block Bloom filter over byte strings: each key sets one bit in each of the eight
/// words of one block of 32 bytes. At 10 bits a key, about one absent key in eighty is reported as
/// present. Not thread-safe.
class BloomFilterBuilder {
 public:
  static constexpr uint32_t kDefaultBitsPerKey = 10;

  /// Sized for `expected_count` distinct keys; more make it answer "perhaps" more often. At most
  /// 4 GiB.
  explicit BloomFilterBuilder(uint64_t expected_count, uint32_t bits_per_key = kDefaultBitsPerKey);

  /// Adding a key twice changes nothing.
  void Add(std::string_view key) { AddHash(HashOf(key)); }

  /// Adds the key that has this hash.
  void AddHash(uint64_t hash);
  [[nodiscard]] static uint64_t HashOf(std::string_view key);

  /// The finished filter. Equal sets of keys and sizes give equal bytes. The builder is empty
  /// afterwards, with the same size.
  [[nodiscard]] std::vector<uint8_t> Finish();

  /// The size of a finished filter.
  [[nodiscard]] static uint64_t SizeBytes(uint64_t expected_count,
                                          uint32_t bits_per_key = kDefaultBitsPerKey);

 private:
  std::vector<uint32_t> words_;
};

/// Asks a filter that BloomFilterBuilder wrote. A view: the bytes must outlive it. Thread-safe.
class BloomFilterView {
 public:
  /// Checks header and length. `object` is what errors call the bytes. kCorrupt, or
  /// kUnsupportedVersion for a newer format. The bits themselves have no wrong value; whoever
  /// stores a filter keeps a checksum of it.
  [[nodiscard]] static arrow::Result<BloomFilterView> Open(ByteSpan bytes, std::string_view object);

  /// False only if `key` was never added.
  [[nodiscard]] bool MayContain(std::string_view key) const;

 private:
  explicit BloomFilterView(ByteSpan blocks) : blocks_(blocks) {}

  ByteSpan blocks_;
};

}  // namespace infino
