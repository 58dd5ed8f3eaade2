#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace infino {

using ByteSpan = std::span<const uint8_t>;

/// The bytes of a string, and back. The result is a view: its source must stay alive.
[[nodiscard]] ByteSpan AsBytes(std::string_view text);
[[nodiscard]] std::string_view AsText(ByteSpan bytes);

/// Reads little-endian numbers, varints and runs of bytes from stored bytes, checking every bound.
///
/// Stored bytes are input, so nothing here asserts: a read past the end, or a malformed varint,
/// fails with kCorrupt and a message that names `object`, the offset, and what was expected. A
/// failed read leaves the position where it was. Views into `bytes` stay valid as long as they do.
class ByteReader {
 public:
  /// `object` is what errors call the bytes, as in "text index of superfile 3f2a"; it must outlive
  /// the reader.
  ByteReader(ByteSpan bytes, std::string_view object);

  [[nodiscard]] arrow::Result<uint8_t> ReadU8();
  [[nodiscard]] arrow::Result<uint16_t> ReadU16();
  [[nodiscard]] arrow::Result<uint32_t> ReadU32();
  [[nodiscard]] arrow::Result<uint64_t> ReadU64();
  [[nodiscard]] arrow::Result<double> ReadF64();

  /// Unsigned LEB128, at most 10 bytes; a value over 64 bits is kCorrupt.
  [[nodiscard]] arrow::Result<uint64_t> ReadVarint();

  /// A varint that must be at most `limit`.
  [[nodiscard]] arrow::Result<uint64_t> ReadVarint(uint64_t limit);

  [[nodiscard]] arrow::Result<ByteSpan> ReadBytes(uint64_t length);

  /// A varint length followed by that many bytes.
  [[nodiscard]] arrow::Result<std::string_view> ReadString();

  /// Fails with kCorrupt unless `offset` is in the bytes (the end included).
  [[nodiscard]] arrow::Status Seek(uint64_t offset);

  /// A kCorrupt status that names the object and the current offset.
  [[nodiscard]] arrow::Status Corrupt(std::string_view what) const;

  [[nodiscard]] uint64_t offset() const { return offset_; }

  [[nodiscard]] uint64_t remaining() const { return bytes_.size() - offset_; }

  [[nodiscard]] bool AtEnd() const { return offset_ == bytes_.size(); }

 private:
  ByteSpan bytes_;
  std::string_view object_;
  uint64_t offset_ = 0;
};

/// Appends little-endian numbers, varints and runs of bytes to a growing buffer.
class ByteWriter {
 public:
  void WriteU8(uint8_t value);
  void WriteU16(uint16_t value);
  void WriteU32(uint32_t value);
  void WriteU64(uint64_t value);
  void WriteF64(double value);
  void WriteVarint(uint64_t value);
  void WriteBytes(ByteSpan bytes);

  /// A varint length followed by the bytes.
  void WriteString(std::string_view text);

  /// Overwrites four bytes written before. REQUIRES: they exist.
  void PatchU32(size_t offset, uint32_t value);

  [[nodiscard]] ByteSpan bytes() const { return bytes_; }

  [[nodiscard]] size_t size() const { return bytes_.size(); }

  void Clear() { bytes_.clear(); }

  /// Moves the bytes out; the writer is empty afterwards.
  [[nodiscard]] std::vector<uint8_t> Take();

 private:
  std::vector<uint8_t> bytes_;
};

/// Unaligned little-endian loads from memory whose bounds are known. The only other place beside
/// codec/ where bytes become numbers. Compilers make one load of each.
[[nodiscard]] inline uint16_t LoadU16(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] | (at[1] << 8));
}

[[nodiscard]] inline uint32_t LoadU32(const uint8_t* at) {
  return uint32_t{at[0]} | (uint32_t{at[1]} << 8) | (uint32_t{at[2]} << 16) |
         (uint32_t{at[3]} << 24);
}

[[nodiscard]] inline uint64_t LoadU64(const uint8_t* at) {
  return uint64_t{at[0]} | (uint64_t{at[1]} << 8) | (uint64_t{at[2]} << 16) |
         (uint64_t{at[3]} << 24) | (uint64_t{at[4]} << 32) | (uint64_t{at[5]} << 40) |
         (uint64_t{at[6]} << 48) | (uint64_t{at[7]} << 56);
}

/// Takes over a vector's memory as an Arrow buffer, without copying.
[[nodiscard]] std::shared_ptr<arrow::Buffer> ToBuffer(std::vector<uint8_t> bytes);

}  // namespace infino
