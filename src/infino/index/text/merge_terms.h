#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <arrow/status.h>

#include "infino/index/text/merge_input.h"
#include "infino/index/text/text_index_merge.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {

/// Writes the terms of all inputs with their postings, in the order of terms and of new documents.
/// `inputs` stand before their first term; no two name the same new document. `hook` is told of
/// `total_bytes`.
[[nodiscard]] arrow::Status MergeTerms(std::span<const std::unique_ptr<MergeInput>> inputs,
                                       const MergeHook& hook, int64_t total_bytes,
                                       TextIndexWriter& writer);

}  // namespace infino::text
