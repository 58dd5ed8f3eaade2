#include "infino/common/bytes.h"

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"

namespace infino {
namespace {

constexpr int kVarintBytesMax = 10;
constexpr uint8_t kVarintMore = 0x80;
constexpr uint8_t kVarintBits = 0x7f;

void AppendLittleEndian(std::vector<uint8_t>& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
}

}  // namespace

ByteSpan AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string_view AsText(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ByteReader::ByteReader(ByteSpan bytes, std::string_view object) : bytes_(bytes), object_(object) {}

arrow::Result<uint8_t> ByteReader::ReadU8() {
  if (remaining() < 1) return Corrupt("expected 1 more byte");
  return bytes_[offset_++];
}

arrow::Result<uint16_t> ByteReader::ReadU16() {
  if (remaining() < 2) return Corrupt("expected 2 more bytes");
  const uint16_t value = LoadU16(bytes_.data() + offset_);
  offset_ += 2;
  return value;
}

arrow::Result<uint32_t> ByteReader::ReadU32() {
  if (remaining() < 4) return Corrupt("expected 4 more bytes");
  const uint32_t value = LoadU32(bytes_.data() + offset_);
  offset_ += 4;
  return value;
}

arrow::Result<uint64_t> ByteReader::ReadU64() {
  if (remaining() < 8) return Corrupt("expected 8 more bytes");
  const uint64_t value = LoadU64(bytes_.data() + offset_);
  offset_ += 8;
  return value;
}

arrow::Result<double> ByteReader::ReadF64() {
  ARROW_ASSIGN_OR_RAISE(const uint64_t bits, ReadU64());
  return std::bit_cast<double>(bits);
}

arrow::Result<uint64_t> ByteReader::ReadVarint() {
  uint64_t value = 0;
  uint64_t at = offset_;
  for (int i = 0; i < kVarintBytesMax; ++i) {
    if (at == bytes_.size()) return Corrupt("varint runs past the end");
    const uint8_t byte = bytes_[at++];
    const int shift = 7 * i;
    const uint64_t bits = byte & kVarintBits;
    if (i == kVarintBytesMax - 1 && byte > 1) break;
    value |= bits << shift;
    if ((byte & kVarintMore) == 0) {
      offset_ = at;
      return value;
    }
  }
  return Corrupt("varint over 64 bits");
}

arrow::Result<uint64_t> ByteReader::ReadVarint(uint64_t limit) {
  const uint64_t start = offset_;
  ARROW_ASSIGN_OR_RAISE(const uint64_t value, ReadVarint());
  if (value > limit) {
    offset_ = start;
    return Corrupt("expected a number of at most " + std::to_string(limit) + ", got " +
                   std::to_string(value));
  }
  return value;
}

arrow::Result<ByteSpan> ByteReader::ReadBytes(uint64_t length) {
  if (length > remaining()) {
    return Corrupt("expected " + std::to_string(length) + " more bytes, got " +
                   std::to_string(remaining()));
  }
  const ByteSpan run = bytes_.subspan(offset_, length);
  offset_ += length;
  return run;
}

arrow::Result<std::string_view> ByteReader::ReadString() {
  const uint64_t start = offset_;
  ARROW_ASSIGN_OR_RAISE(const uint64_t length, ReadVarint());
  arrow::Result<ByteSpan> run = ReadBytes(length);
  if (!run.ok()) {
    offset_ = start;
    return run.status();
  }
  return AsText(*run);
}

arrow::Status ByteReader::Seek(uint64_t offset) {
  if (offset > bytes_.size()) {
    return Corrupt("offset " + std::to_string(offset) + " lies past the end at " +
                   std::to_string(bytes_.size()));
  }
  offset_ = offset;
  return arrow::Status::OK();
}

arrow::Status ByteReader::Corrupt(std::string_view what) const {
  std::string message(object_);
  message += ": ";
  message += what;
  message += ": offset=" + std::to_string(offset_);
  return MakeError(ErrorKind::kCorrupt, std::move(message));
}

void ByteWriter::WriteU8(uint8_t value) {
  bytes_.push_back(value);
}

void ByteWriter::WriteU16(uint16_t value) {
  AppendLittleEndian(bytes_, value, 2);
}

void ByteWriter::WriteU32(uint32_t value) {
  AppendLittleEndian(bytes_, value, 4);
}

void ByteWriter::WriteU64(uint64_t value) {
  AppendLittleEndian(bytes_, value, 8);
}

void ByteWriter::WriteF64(double value) {
  WriteU64(std::bit_cast<uint64_t>(value));
}

void ByteWriter::WriteVarint(uint64_t value) {
  while (value > kVarintBits) {
    bytes_.push_back(static_cast<uint8_t>((value & kVarintBits) | kVarintMore));
    value >>= 7;
  }
  bytes_.push_back(static_cast<uint8_t>(value));
}

void ByteWriter::WriteBytes(ByteSpan bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ByteWriter::WriteString(std::string_view text) {
  WriteVarint(text.size());
  WriteBytes(AsBytes(text));
}

void ByteWriter::PatchU32(size_t offset, uint32_t value) {
  assert(offset + 4 <= bytes_.size());
  for (size_t i = 0; i < 4; ++i) {
    bytes_[offset + i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

std::vector<uint8_t> ByteWriter::Take() {
  return std::exchange(bytes_, {});
}

std::shared_ptr<arrow::Buffer> ToBuffer(std::vector<uint8_t> bytes) {
  return arrow::Buffer::FromVector(std::move(bytes));
}

}  // namespace infino
