#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/error.h"

namespace infino::text {

/// A kCorrupt status that names the index and what is wrong with it.
[[nodiscard]] inline arrow::Status CorruptIndex(std::string_view index, std::string_view what) {
  return MakeError(ErrorKind::kCorrupt, std::string(index) + ": " + std::string(what));
}

/// Whether `stored` is the checksum of `bytes`. Every checksum is one where a fuzzer is to get past
/// them.
[[nodiscard]] inline bool ChecksumMatches([[maybe_unused]] ByteSpan bytes,
                                          [[maybe_unused]] uint32_t stored) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;
#else
  return Crc32c(bytes) == stored;
#endif
}

/// Reads small numbers from checksummed bytes in inner loops, where a Result per number would cost
/// more than the reading. As safe as ByteReader: a read past the end or of a malformed number gives
/// 0, makes ok() false for good, and leaves nothing more to read.
class BlockReader {
 public:
  explicit BlockReader(ByteSpan bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }

  [[nodiscard]] size_t offset() const { return offset_; }

  [[nodiscard]] size_t remaining() const { return bytes_.size() - offset_; }

  [[nodiscard]] uint8_t U8() {
    if (remaining() == 0) return Fail();
    return bytes_[offset_++];
  }

  [[nodiscard]] uint32_t U32() {
    if (remaining() < sizeof(uint32_t)) return Fail();
    const uint32_t value = LoadU32(bytes_.data() + offset_);
    offset_ += sizeof(uint32_t);
    return value;
  }

  /// Unsigned LEB128 of at most `limit`.
  [[nodiscard]] uint64_t Varint(uint64_t limit) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      if (remaining() == 0) return Fail();
      const uint8_t byte = bytes_[offset_++];
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value <= limit ? value : Fail();
    }
    return Fail();
  }

  /// A varint of at most `limit`, which fits 32 bits.
  [[nodiscard]] uint32_t Varint32(uint32_t limit) { return static_cast<uint32_t>(Varint(limit)); }

  [[nodiscard]] ByteSpan Bytes(uint64_t length) {
    if (length > remaining()) {
      Fail();
      return {};
    }
    const ByteSpan run = bytes_.subspan(offset_, length);
    offset_ += length;
    return run;
  }

  /// Makes the reader fail because of something its user found.
  uint8_t Fail() {
    ok_ = false;
    offset_ = bytes_.size();
    return 0;
  }

 private:
  ByteSpan bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace infino::text
