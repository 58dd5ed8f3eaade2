#pragma once

#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/manifest/manifest.h"

namespace infino {

/// The bytes of `part`: an Arrow IPC stream, one row a superfile (docs/format/manifest.md, "Part").
/// Equal parts give equal bytes. kInternal if the part breaks its own rules: all term filters of a
/// superfile must lie in one summary object.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> EncodePart(const ManifestPart& part);

/// Reads what EncodePart wrote; `summaries` are those in use, in order of first use. kCorrupt,
/// naming `object`, for anything else; kUnsupportedVersion for a newer format. Memory stays within
/// a small multiple of the bytes' size, whatever they say. Damage that makes another valid part is
/// not noticed here: check the content's hash first (CheckContent).
[[nodiscard]] arrow::Result<ManifestPart> DecodePart(const arrow::Buffer& bytes,
                                                     std::string_view object);

[[nodiscard]] ObjectRef RefOfPart(const arrow::Buffer& bytes);

}  // namespace infino
