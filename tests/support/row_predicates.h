#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "infino/query/row_selector.h"

namespace infino {

/// A selector of rows without SQL, for tables whose first column is an int64, `row`, never null.
/// Its predicates are "true", "row = N", "row < N", "row >= N" and "row % M = N", numbers in
/// decimal; anything else is kInvalidArgument.
[[nodiscard]] std::shared_ptr<RowSelector> MakeRowPredicates();

/// Whether such a predicate is true. REQUIRES: it is one.
[[nodiscard]] bool HoldsFor(const std::string& predicate, int64_t row);

}  // namespace infino
