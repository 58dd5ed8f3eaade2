#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/ids.h"

namespace infino {

/// What the Arrow objects of a table have in common (docs/format/versioning.md): the schema's
/// metadata says kind, format version and the commit that wrote the object.

inline constexpr std::string_view kPartKind = "part";
inline constexpr std::string_view kSummaryKind = "summary";

[[nodiscard]] std::shared_ptr<const arrow::KeyValueMetadata> ArrowObjectMetadata(
    std::string_view kind, const CommitId& commit);

/// The commit in such metadata. kCorrupt, naming `object`, if it is missing or of another kind;
/// kUnsupportedVersion if the format is newer.
[[nodiscard]] arrow::Result<CommitId> ReadArrowObjectMetadata(
    const arrow::KeyValueMetadata* metadata, std::string_view kind, std::string_view object);

}  // namespace infino
