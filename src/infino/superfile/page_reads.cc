#include "infino/superfile/page_reads.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/error.h"

namespace infino {
namespace {

/// Pages that follow each other are read as one range up to this length.
constexpr int64_t kReadMax = int64_t{8} << 20;

}  // namespace

PlannedPage PageReads::Add(const ByteRange& place, uint32_t checksum) {
  const bool extends = !ranges_.empty() && ranges_.back().end() == place.offset &&
                       ranges_.back().length + place.length <= kReadMax;
  if (!extends) ranges_.push_back({.offset = place.offset, .length = 0});
  const PlannedPage page{
      .read = ranges_.size() - 1, .offset = ranges_.back().length, .length = place.length};
  ranges_.back().length += place.length;
  asked_.push_back({.page = page, .checksum = checksum});
  return page;
}

arrow::Status PageReads::Take(Buffers bytes, const std::string& object) {
  bool as_asked = bytes.size() == ranges_.size();
  for (size_t i = 0; as_asked && i < bytes.size(); ++i) {
    as_asked = bytes[i] != nullptr && bytes[i]->size() == ranges_[i].length;
  }
  if (!as_asked) {
    return MakeError(ErrorKind::kInternal,
                     object + ": fetch rows: bytes fed are not those asked for");
  }
  bytes_ = std::move(bytes);
  for (const auto& [page, checksum] : asked_) {
    if (Crc32c(BytesOf(page)) == checksum) continue;
    return MakeError(ErrorKind::kCorrupt, object + ": page has a wrong checksum, offset=" +
                                              std::to_string(OffsetOf(page)));
  }
  return arrow::Status::OK();
}

ByteSpan PageReads::BytesOf(const PlannedPage& page) const {
  return {bytes_[page.read]->data() + page.offset, static_cast<size_t>(page.length)};
}

std::shared_ptr<arrow::Buffer> PageReads::BufferOf(const PlannedPage& page) const {
  return arrow::SliceBuffer(bytes_[page.read], page.offset, page.length);
}

int64_t PageReads::OffsetOf(const PlannedPage& page) const {
  return ranges_[page.read].offset + page.offset;
}

}  // namespace infino
