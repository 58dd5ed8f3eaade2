#pragma once

#include <functional>
#include <vector>

#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "infino/index/text/text_pattern.h"

namespace infino::sql {

/// What conditions on a text column say of its texts as patterns: LIKE and ILIKE with and without
/// ESCAPE, contains, starts_with, ends_with and their other names, also of lower(column), and
/// ranges of texts that begin alike. Each text that fulfils the condition fits all of the patterns;
/// the reverse need not be. None where a condition says nothing of the kind.

/// Of an expression, which may be a conjunction of several. `is_column` tells the column from other
/// expressions.
[[nodiscard]] std::vector<text::TextPattern> PatternsOf(
    const duckdb::Expression& condition,
    const std::function<bool(const duckdb::Expression&)>& is_column);

/// Of a filter of a scan.
[[nodiscard]] std::vector<text::TextPattern> PatternsOf(const duckdb::TableFilter& filter);

}  // namespace infino::sql
