#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/ids.h"

namespace infino {

/// What the Arrow objects of a table have in common (docs/format/versioning.md): the schema's
/// metadata says kind, format version and the commit that wrote the object.

inline constexpr std::string_view kPartKind = "part";
inline constexpr std::string_view kSummaryKind = "summary";
inline constexpr std::string_view kPointsKind = "points";

[[nodiscard]] std::shared_ptr<const arrow::KeyValueMetadata> ArrowObjectMetadata(
    std::string_view kind, const CommitId& commit);

/// The commit in such metadata. kCorrupt, naming `object`, if it is missing or of another kind;
/// kUnsupportedVersion if the format is newer.
[[nodiscard]] arrow::Result<CommitId> ReadArrowObjectMetadata(
    const arrow::KeyValueMetadata* metadata, std::string_view kind, std::string_view object);

/// What is done with the record batch of an object. It is valid, has the object's metadata in its
/// schema, and lives for the call.
using ArrowObjectVisitor =
    std::function<arrow::Status(const CommitId& commit, const arrow::RecordBatch& batch)>;

/// Reads an object of one record batch and calls `visit` with it. kCorrupt, naming `object`, for
/// everything else, if it would take more than `memory_max` bytes, and where `visit` fails with an
/// error of Arrow's; kUnsupportedVersion if the format is newer.
[[nodiscard]] arrow::Status ReadArrowObject(const arrow::Buffer& bytes, std::string_view kind,
                                            std::string_view object, int64_t memory_max,
                                            const ArrowObjectVisitor& visit);

/// kCorrupt, naming `object`, if there is a null below a field that is declared not null. Below a
/// struct that may be null nothing is looked at if one is.
[[nodiscard]] arrow::Status CheckNoNulls(const arrow::RecordBatch& batch, std::string_view object);

}  // namespace infino
