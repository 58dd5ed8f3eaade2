#include "infino/superfile/block_checksums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/error.h"
#include "infino/superfile/superfile_format.h"

namespace infino {

BlockChecksums BlockChecksums::Of(ByteSpan body) {
  BlockChecksumsBuilder builder;
  builder.Add(body);
  return builder.Finish();
}

void BlockChecksumsBuilder::Add(ByteSpan bytes) {
  while (!bytes.empty()) {
    const int64_t filled = made_.body_length_ % kBodyBlockSize;
    const size_t taken = std::min(bytes.size(), static_cast<size_t>(kBodyBlockSize - filled));
    if (filled == 0) made_.checksums_.push_back(Crc32c({}));
    made_.checksums_.back() = ExtendCrc32c(made_.checksums_.back(), bytes.first(taken));
    made_.body_length_ += static_cast<int64_t>(taken);
    bytes = bytes.subspan(taken);
  }
}

BlockChecksums BlockChecksumsBuilder::Finish() {
  return std::exchange(made_, {});
}

arrow::Result<BlockChecksums> BlockChecksums::Parse(ByteReader& in, int64_t body_length) {
  const auto expected =
      static_cast<uint64_t>((body_length / kBodyBlockSize) + (body_length % kBodyBlockSize != 0));
  if (in.remaining() != expected * sizeof(uint32_t)) return in.Corrupt("block checksums: count");
  BlockChecksums result;
  result.body_length_ = body_length;
  result.checksums_.reserve(expected);
  for (uint64_t i = 0; i < expected; ++i) {
    ARROW_ASSIGN_OR_RAISE(const uint32_t checksum, in.ReadU32());
    result.checksums_.push_back(checksum);
  }
  return result;
}

void BlockChecksums::Encode(ByteWriter& out) const {
  for (const uint32_t checksum : checksums_) out.WriteU32(checksum);
}

ByteRange BlockChecksums::PlaceOf(int64_t block) const {
  const int64_t offset = block * kBodyBlockSize;
  return {.offset = offset, .length = std::min(kBodyBlockSize, body_length_ - offset)};
}

arrow::Status BlockChecksums::Check(int64_t block, ByteSpan bytes,
                                    const std::string& object) const {
  if (Crc32c(bytes) == checksums_[static_cast<size_t>(block)]) return arrow::Status::OK();
  return MakeError(ErrorKind::kCorrupt, object + ": body has a wrong checksum, offset=" +
                                            std::to_string(block * kBodyBlockSize));
}

}  // namespace infino
