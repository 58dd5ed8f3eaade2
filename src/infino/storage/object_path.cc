#include "infino/storage/object_path.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"

namespace infino {
namespace {

arrow::Status Refuse(std::string_view path, std::string_view why) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "bad object path \"" + std::string(path) + "\": " + std::string(why));
}

arrow::Status CheckSegment(std::string_view path, std::string_view segment) {
  if (segment.empty()) return Refuse(path, "empty segment");
  if (segment == "." || segment == "..") return Refuse(path, "\".\" or \"..\" as a segment");
  if (segment.size() > kMaxPathSegmentBytes) return Refuse(path, "a segment is over 255 bytes");
  if (segment == kLockFileName || segment.starts_with(kTemporaryPrefix)) {
    return Refuse(path, "a segment is a name reserved for the store");
  }
  return arrow::Status::OK();
}

arrow::Status CheckWhole(std::string_view path) {
  if (path.size() > kMaxPathBytes) return Refuse(path, "over 1024 bytes");
  if (path.find('\0') != std::string_view::npos) return Refuse(path, "NUL byte");
  return arrow::Status::OK();
}

/// Checks every segment that a '/' ends, and gives the rest.
arrow::Result<std::string_view> CheckFolders(std::string_view path) {
  std::string_view rest = path;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    ARROW_RETURN_NOT_OK(CheckSegment(path, rest.substr(0, slash)));
    rest.remove_prefix(slash + 1);
  }
  return rest;
}

}  // namespace

arrow::Status CheckObjectPath(std::string_view path) {
  ARROW_RETURN_NOT_OK(CheckWhole(path));
  ARROW_ASSIGN_OR_RAISE(const std::string_view name, CheckFolders(path));
  return CheckSegment(path, name);
}

arrow::Status CheckListPrefix(std::string_view prefix) {
  ARROW_RETURN_NOT_OK(CheckWhole(prefix));
  return CheckFolders(prefix).status();
}

arrow::Status CheckRange(std::string_view path, ByteRange range, int64_t size) {
  if (range.offset >= 0 && range.length >= 0 && range.length <= size &&
      range.offset <= size - range.length) {
    return arrow::Status::OK();
  }
  return MakeError(ErrorKind::kCorrupt,
                   "cannot read " + std::string(path) +
                       ": range outside the object: offset=" + std::to_string(range.offset) +
                       " length=" + std::to_string(range.length) + " size=" + std::to_string(size));
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace infino
