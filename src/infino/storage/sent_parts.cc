#include "infino/storage/sent_parts.h"

#include <cstdint>
#include <mutex>
#include <string>

#include <arrow/status.h>

#include "infino/error.h"
#include "infino/storage/object_store.h"

namespace infino {

arrow::Status SentParts::Check(int64_t number, int64_t size) const {
  if (number >= 0 && size > 0 && size <= kUploadPartBytes) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   "upload " + path_ + ": a part can't have number=" + std::to_string(number) +
                       " bytes=" + std::to_string(size));
}

void SentParts::Add(int64_t number, int64_t size) {
  const std::lock_guard lock(mutex_);
  sizes_.insert_or_assign(number, size);
}

arrow::Status SentParts::CheckAll(int64_t part_count) const {
  const std::lock_guard lock(mutex_);
  int64_t next = 0;
  bool is_whole = !sizes_.empty();
  for (const auto& [number, size] : sizes_) {
    is_whole = is_whole && number == next++ && (next == part_count || size == kUploadPartBytes);
  }
  if (is_whole && next == part_count) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   "upload " + path_ + ": not all of its parts were sent, or others; parts=" +
                       std::to_string(part_count) + " sent=" + std::to_string(sizes_.size()));
}

void SentParts::Clear() {
  const std::lock_guard lock(mutex_);
  sizes_.clear();
}

}  // namespace infino
