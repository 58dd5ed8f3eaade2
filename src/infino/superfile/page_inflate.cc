#include "infino/superfile/page_inflate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/compression.h>
#include <arrow/util/type_fwd.h>

#include "infino/common/bytes.h"
#include "infino/options.h"

namespace infino {
namespace {

arrow::Status WrongLength() {
  return arrow::Status::IOError("page does not decompress to its length");
}

/// The length that a zstd frame of one segment says it holds, or nothing for another frame. Of such
/// a frame nothing but its output is ever allocated.
std::optional<uint64_t> SegmentLength(ByteSpan frame) {
  constexpr uint32_t kMagic = 0xFD2FB528;
  constexpr size_t kDescriptorAt = sizeof(kMagic);
  constexpr size_t kLengthAt = kDescriptorAt + 1;
  constexpr uint8_t kSingleSegment = 0x20;
  constexpr uint8_t kDictionaryId = 0x03;
  constexpr uint64_t kTwoByteBase = 256;
  if (frame.size() < kLengthAt + sizeof(uint64_t) || LoadU32(frame.data()) != kMagic) return {};
  const uint8_t descriptor = frame[kDescriptorAt];
  if ((descriptor & kSingleSegment) == 0 || (descriptor & kDictionaryId) != 0) return {};
  const uint8_t* at = frame.data() + kLengthAt;
  switch (descriptor >> 6) {
    case 0:
      return *at;
    case 1:
      return LoadU16(at) + kTwoByteBase;
    case 2:
      return LoadU32(at);
    default:
      return LoadU64(at);
  }
}

/// A codec with what it needs to decompress one page after the other.
class Inflater {
 public:
  explicit Inflater(arrow::Compression::type type) : type_(type) {}

  arrow::Status Run(ByteSpan compressed, std::span<uint8_t> out) {
    if (codec_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(codec_, arrow::util::Codec::Create(type_));
    }
    const bool reuses =
        type_ == arrow::Compression::ZSTD && SegmentLength(compressed) == out.size();
    return reuses ? RunReused(compressed, out) : RunOnce(compressed, out);
  }

 private:
  arrow::Status RunOnce(ByteSpan compressed, std::span<uint8_t> out) {
    ARROW_ASSIGN_OR_RAISE(
        const int64_t written,
        codec_->Decompress(static_cast<int64_t>(compressed.size()), compressed.data(),
                           static_cast<int64_t>(out.size()), out.data()));
    return std::cmp_equal(written, out.size()) ? arrow::Status::OK() : WrongLength();
  }

  arrow::Status RunReused(ByteSpan compressed, std::span<uint8_t> out) {
    if (stream_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(stream_, codec_->MakeDecompressor());
    } else {
      ARROW_RETURN_NOT_OK(stream_->Reset());
    }
    ARROW_ASSIGN_OR_RAISE(
        const auto result,
        stream_->Decompress(static_cast<int64_t>(compressed.size()), compressed.data(),
                            static_cast<int64_t>(out.size()), out.data()));
    const bool whole = std::cmp_equal(result.bytes_written, out.size()) &&
                       std::cmp_equal(result.bytes_read, compressed.size()) &&
                       stream_->IsFinished();
    return whole ? arrow::Status::OK() : WrongLength();
  }

  arrow::Compression::type type_;
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::util::Decompressor> stream_;
};

}  // namespace

int64_t InflatedMax(Compression compression, int64_t compressed_length) {
  // A zstd block of 128 KiB takes four bytes, an lz4 run of 255 bytes one.
  constexpr int64_t kZstdRatio = int64_t{32} << 10;
  constexpr int64_t kLz4Ratio = 255;
  switch (compression) {
    case Compression::kZstd:
      return compressed_length * kZstdRatio;
    case Compression::kLz4:
      return compressed_length * kLz4Ratio;
    case Compression::kNone:
      break;
  }
  return compressed_length;
}

arrow::Status Inflate(Compression compression, ByteSpan compressed, std::span<uint8_t> out) {
  switch (compression) {
    case Compression::kZstd: {
      static thread_local Inflater zstd(arrow::Compression::ZSTD);
      return zstd.Run(compressed, out);
    }
    case Compression::kLz4: {
      static thread_local Inflater lz4(arrow::Compression::LZ4);
      return lz4.Run(compressed, out);
    }
    case Compression::kNone:
      break;
  }
  if (compressed.size() != out.size()) return WrongLength();
  std::copy(compressed.begin(), compressed.end(), out.begin());
  return arrow::Status::OK();
}

}  // namespace infino
