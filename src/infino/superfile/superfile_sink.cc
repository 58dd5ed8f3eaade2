#include "infino/superfile/superfile_sink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/scratch.h"
#include "infino/error.h"
#include "infino/superfile/block_checksums.h"

namespace infino {
namespace {

constexpr int64_t kFirstCapacity = int64_t{64} << 10;

/// Pieces that are written to the scratch file, and hashed, at a time.
constexpr int64_t kFlushBytes = int64_t{1} << 20;

}  // namespace

SuperfileSink::SuperfileSink(std::shared_ptr<ScratchSpace> scratch, int64_t memory_bytes)
    : scratch_(std::move(scratch)), memory_max_(memory_bytes), region_checksum_(Crc32c({})) {}

arrow::Status SuperfileSink::Open() {
  ARROW_ASSIGN_OR_RAISE(buffer_, arrow::AllocateResizableBuffer(kFirstCapacity));
  return arrow::Status::OK();
}

arrow::Status SuperfileSink::Reserve(int64_t size) {
  const int64_t needed = size_ - start_ + size;
  if (needed <= buffer_->size()) return arrow::Status::OK();
  return FromForeign(buffer_->Resize(std::max(needed, buffer_->size() * 2)),
                     "write a superfile: no memory");
}

arrow::Status SuperfileSink::Write(const void* data, int64_t size) {
  ARROW_RETURN_NOT_OK(Reserve(size));
  std::copy_n(static_cast<const uint8_t*>(data), size, buffer_->mutable_data() + (size_ - start_));
  size_ += size;
  return held_from_.has_value() ? arrow::Status::OK() : SpillIfLong();
}

arrow::Status SuperfileSink::Close() {
  is_closed_ = true;
  return arrow::Status::OK();
}

ByteSpan SuperfileSink::Since(int64_t offset) const {
  return {buffer_->data() + (offset - start_), static_cast<size_t>(size_ - offset)};
}

std::shared_ptr<arrow::Buffer> SuperfileSink::held() const {
  return arrow::SliceBuffer(buffer_, *held_from_ - start_, size_ - *held_from_);
}

arrow::Status SuperfileSink::Release() {
  held_from_.reset();
  return SpillIfLong();
}

arrow::Status SuperfileSink::SpillIfLong() {
  const int64_t limit = file_ == nullptr ? memory_max_ : kFlushBytes;
  return scratch_ == nullptr || size_ - start_ <= limit ? arrow::Status::OK() : Spill();
}

arrow::Status SuperfileSink::Spill() {
  Settle();
  if (file_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(file_, scratch_->NewFile());
  }
  ARROW_RETURN_NOT_OK(file_->Append(Since(start_)));
  start_ = size_;
  return arrow::Status::OK();
}

void SuperfileSink::Settle() {
  const ByteSpan bytes = Since(settled_);
  hasher_.Add(bytes);
  if (is_body_) {
    blocks_.Add(bytes);
  } else {
    region_checksum_ = ExtendCrc32c(region_checksum_, bytes);
  }
  settled_ = size_;
}

arrow::Result<BlockChecksums> SuperfileSink::EndBody() {
  Settle();
  is_body_ = false;
  region_start_ = size_;
  if (file_ != nullptr) {
    // What follows comes in small pieces, unlike row groups.
    ARROW_RETURN_NOT_OK(Spill());
    ARROW_RETURN_NOT_OK(FromForeign(buffer_->Resize(std::min(buffer_->size(), kFlushBytes),
                                                    /*shrink_to_fit=*/true),
                                    "write a superfile: no memory"));
  }
  return blocks_.Finish();
}

SuperfileSink::Region SuperfileSink::EndRegion() {
  Settle();
  const Region region{.place = {.offset = region_start_, .length = size_ - region_start_},
                      .checksum = region_checksum_};
  region_start_ = size_;
  region_checksum_ = Crc32c({});
  return region;
}

arrow::Result<SuperfileSink::Finished> SuperfileSink::Finish() {
  Settle();
  Finished finished{.bytes = {}, .file = {}, .size = size_, .hash = hasher_.Finish()};
  if (file_ != nullptr) {
    ARROW_RETURN_NOT_OK(Spill());
    buffer_.reset();
    finished.file = std::move(file_);
  } else {
    ARROW_RETURN_NOT_OK(buffer_->Resize(size_, /*shrink_to_fit=*/false));
    finished.bytes = std::move(buffer_);
  }
  return finished;
}

}  // namespace infino
