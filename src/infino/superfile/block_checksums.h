#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"

namespace infino {

/// The crc32c of each block of kBodyBlockSize bytes of the Parquet body, for readers that take long
/// stretches of it. The last block may be short. Immutable.
class BlockChecksums {
 public:
  [[nodiscard]] static BlockChecksums Of(ByteSpan body);

  /// Reads what Encode wrote for a body of `body_length` bytes; kCorrupt otherwise.
  [[nodiscard]] static arrow::Result<BlockChecksums> Parse(ByteReader& in, int64_t body_length);

  void Encode(ByteWriter& out) const;

  /// The place of a block in the file. REQUIRES: block < count().
  [[nodiscard]] ByteRange PlaceOf(int64_t block) const;

  /// kCorrupt, naming `object` and the offset, unless `bytes` are those of `block`.
  [[nodiscard]] arrow::Status Check(int64_t block, ByteSpan bytes, const std::string& object) const;

  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(checksums_.size()); }

 private:
  friend class BlockChecksumsBuilder;

  int64_t body_length_ = 0;
  std::vector<uint32_t> checksums_;
};

/// Makes the checksums of a body that comes piece by piece.
class BlockChecksumsBuilder {
 public:
  void Add(ByteSpan bytes);

  /// Of all bytes so far. The builder is empty afterwards.
  [[nodiscard]] BlockChecksums Finish();

 private:
  BlockChecksums made_;
};

}  // namespace infino
