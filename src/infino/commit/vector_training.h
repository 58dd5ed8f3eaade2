#pragma once

#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/commit/row_slices.h"
#include "infino/common/random.h"
#include "infino/manifest/points_codec.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {

/// What the codes of an append are made with.
struct AppendSpaces {
  VectorSpaces spaces;  ///< Of every vector column: the lists of the table, then the new one.
  std::vector<ReferencePoints> added;  ///< To be committed with the superfiles.
};

/// Sees to it that every vector column has reference points that fit the rows of an append.
///
/// `rows` are the first ones, some 64 Ki or 32 MiB. A column without points gets a list that is
/// trained on them. So does one whose lists are much smaller than what the rows would give, and one
/// whose points are farther from the rows than from those they were trained on: the rule and its
/// reasons are in docs/design/0009-reference-points-of-an-append.md. Everything else costs no
/// training. Holds a sample of up to 10,240 rows meanwhile, about three times.
///
/// Fails with kInvalidArgument as RowCoercion::CoerceColumn. REQUIRES: there are rows.
[[nodiscard]] arrow::Result<AppendSpaces> TrainForAppend(const Snapshot& base,
                                                         std::span<const RowSlice> rows,
                                                         Random& random);

}  // namespace infino
