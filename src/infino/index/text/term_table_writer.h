#pragma once

#include <arrow/status.h>

#include "infino/index/text/term_table.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {

/// Writes all terms of a builder's table with their postings, in order. Closes the table, whose
/// documents count in the writer's lengths. Memory on top: a key per term, to sort.
[[nodiscard]] arrow::Status WriteTerms(TermTable& terms, TextIndexWriter& writer);

}  // namespace infino::text
