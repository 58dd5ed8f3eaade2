#pragma once

#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/manifest/manifest.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// The hash that ManifestRoot::schema_hash holds: over the schema and index spec as encoded.
[[nodiscard]] arrow::Result<ContentHash> HashOfSchema(const TableSchema& schema);

/// The bytes of `root` as JSON (docs/format/manifest.md, "Root"). Equal roots give equal bytes.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> EncodeRoot(const ManifestRoot& root);

/// Reads what EncodeRoot wrote and checks that its parts add up to its totals, its history has no
/// gaps, its names fit their hashes and its reference points are of vector columns. kCorrupt,
/// naming `object`, for anything else; kUnsupportedVersion for a newer format.
[[nodiscard]] arrow::Result<ManifestRoot> DecodeRoot(const arrow::Buffer& bytes,
                                                     std::string_view object);

/// The place and name of an encoded root of `version`.
[[nodiscard]] ObjectRef RefOfRoot(uint64_t version, const arrow::Buffer& bytes);

/// kCorrupt, naming the object, unless `bytes` have the size and hash that `ref` says.
[[nodiscard]] arrow::Status CheckContent(const ObjectRef& ref, const arrow::Buffer& bytes);

}  // namespace infino
