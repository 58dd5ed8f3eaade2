#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include <arrow/result.h>

#include "infino/index/vector/vector_space.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// What the codes of each vector column are made with, by field id. A column is missing while it
/// has no reference points, and so no rows.
using VectorSpaces = std::map<int32_t, std::shared_ptr<const vector::VectorSpace>>;

/// The spaces of a version whose reference points are `points`, in the order of its root. A space
/// of `known` whose lists are the same is taken over. kInvalidArgument if the points don't fit the
/// schema or stand there twice.
[[nodiscard]] arrow::Result<VectorSpaces> MakeSpaces(const TableSchema& schema,
                                                     std::span<const ReferencePoints> points,
                                                     const VectorSpaces& known);

}  // namespace infino
