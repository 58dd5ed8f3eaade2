#include "infino/codec/bloom_filter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/common/hash.h"
#include "infino/error.h"

namespace infino {
namespace {

/// "IBLM" as bytes.
constexpr uint32_t kMagic = 0x4D4C4249;
constexpr uint32_t kVersion = 0;

/// Magic, version, number of blocks, four reserved bytes.
constexpr size_t kHeaderBytes = 16;
constexpr size_t kBlockWords = 8;
constexpr size_t kWordBytes = 4;
constexpr size_t kBlockBytes = kBlockWords * kWordBytes;
constexpr uint64_t kBlockBits = kBlockBytes * 8;
constexpr uint64_t kBlockCountMax = uint64_t{1} << 27;

/// The odd multipliers of the Parquet specification: each picks the bit of one word.
constexpr std::array<uint32_t, kBlockWords> kSalts = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU,
                                                      0xa2b7289dU, 0x705495c7U, 0x2df1424bU,
                                                      0x9efc4947U, 0x5c6bfb31U};

uint64_t BlockCountFor(uint64_t expected_count, uint32_t bits_per_key) {
  constexpr uint64_t kCountMax = std::numeric_limits<uint64_t>::max() >> 32;
  const uint64_t bits = std::min(expected_count, kCountMax) * bits_per_key;
  return std::clamp<uint64_t>(bits / kBlockBits + (bits % kBlockBits != 0 ? 1 : 0), 1,
                              kBlockCountMax);
}

size_t BlockOf(uint64_t hash, uint64_t block_count) {
  return static_cast<size_t>(((hash >> 32) * block_count) >> 32);
}

uint32_t BitOf(uint64_t hash, size_t word) {
  return uint32_t{1} << ((static_cast<uint32_t>(hash) * kSalts[word]) >> 27);
}

}  // namespace

BloomFilterBuilder::BloomFilterBuilder(uint64_t expected_count, uint32_t bits_per_key)
    : words_(BlockCountFor(expected_count, bits_per_key) * kBlockWords) {}

uint64_t BloomFilterBuilder::HashOf(std::string_view key) {
  return Hash64(AsBytes(key));
}

void BloomFilterBuilder::AddHash(uint64_t hash) {
  const size_t first = BlockOf(hash, words_.size() / kBlockWords) * kBlockWords;
  for (size_t i = 0; i < kBlockWords; ++i) words_[first + i] |= BitOf(hash, i);
}

std::vector<uint8_t> BloomFilterBuilder::Finish() {
  ByteWriter out;
  out.WriteU32(kMagic);
  out.WriteU32(kVersion);
  out.WriteU32(static_cast<uint32_t>(words_.size() / kBlockWords));
  out.WriteU32(0);
  for (uint32_t& word : words_) out.WriteU32(std::exchange(word, 0));
  return out.Take();
}

uint64_t BloomFilterBuilder::SizeBytes(uint64_t expected_count, uint32_t bits_per_key) {
  return kHeaderBytes + BlockCountFor(expected_count, bits_per_key) * kBlockBytes;
}

arrow::Result<BloomFilterView> BloomFilterView::Open(ByteSpan bytes, std::string_view object) {
  ByteReader reader(bytes, object);
  ARROW_ASSIGN_OR_RAISE(const uint32_t magic, reader.ReadU32());
  if (magic != kMagic) return reader.Corrupt("not a Bloom filter: wrong magic number");
  ARROW_ASSIGN_OR_RAISE(const uint32_t version, reader.ReadU32());
  if (version != kVersion) {
    std::string message(object);
    message += ": Bloom filter of a newer format: version=" + std::to_string(version);
    return MakeError(ErrorKind::kUnsupportedVersion, std::move(message));
  }
  ARROW_ASSIGN_OR_RAISE(const uint32_t block_count, reader.ReadU32());
  ARROW_RETURN_NOT_OK(reader.ReadU32().status());  // reserved
  const uint64_t expected = uint64_t{block_count} * kBlockBytes;
  if (block_count == 0 || reader.remaining() != expected) {
    return reader.Corrupt("expected " + std::to_string(block_count) +
                          " Bloom filter blocks, got bytes=" + std::to_string(reader.remaining()));
  }
  return BloomFilterView(bytes.subspan(kHeaderBytes));
}

bool BloomFilterView::MayContain(std::string_view key) const {
  const uint64_t hash = Hash64(AsBytes(key));
  const uint8_t* block = blocks_.data() + BlockOf(hash, blocks_.size() / kBlockBytes) * kBlockBytes;
  uint32_t missing = 0;
  for (size_t i = 0; i < kBlockWords; ++i) {
    missing |= BitOf(hash, i) & ~LoadU32(block + kWordBytes * i);
  }
  return missing == 0;
}

}  // namespace infino
