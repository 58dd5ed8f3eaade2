#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <arrow/status.h>

#include "infino/common/byte_range.h"

namespace infino {

/// The longest segment and the longest path that every store takes, in bytes.
inline constexpr size_t kMaxPathSegmentBytes = 255;
inline constexpr size_t kMaxPathBytes = 1024;

/// Names that the local store uses for itself. No object may have a segment like them, in any
/// store, so that a path that works in one works in all.
inline constexpr std::string_view kLockFileName = ".lock";
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";

/// kInvalidArgument unless `path` can name an object: no empty, "." or ".." segment, none that is
/// too long or reserved, no NUL.
[[nodiscard]] arrow::Status CheckObjectPath(std::string_view path);

/// The same for the prefix of a listing, which may be empty and may end anywhere in a segment.
[[nodiscard]] arrow::Status CheckListPrefix(std::string_view prefix);

/// kCorrupt unless `range` lies inside an object of `size` bytes: who asks for bytes that aren't
/// there was told so by stored bytes.
[[nodiscard]] arrow::Status CheckRange(std::string_view path, ByteRange range, int64_t size);

/// The path without its last segment; empty if it has only one.
[[nodiscard]] std::string_view FolderOf(std::string_view path);

}  // namespace infino
