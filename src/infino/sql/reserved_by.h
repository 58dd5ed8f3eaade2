#pragma once

#include <string>

namespace infino::sql {

/// `text` with the word `by` in quotes wherever it does not follow GROUP, ORDER, PARTITION
/// or SORT: DuckDB reserves it, other dialects let a column be called so. Texts without it come
/// back as they are.
[[nodiscard]] std::string QuoteBy(const std::string& text);

}  // namespace infino::sql
