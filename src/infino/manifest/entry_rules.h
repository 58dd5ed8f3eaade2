#pragma once

#include <cstdint>
#include <string_view>

#include "infino/manifest/manifest.h"

namespace infino {

/// What is wrong with an entry by itself, as in "row count is not positive"; empty if nothing is.
/// Writers and readers of parts ask the same question, so what was written can be read.
/// `summary_size_bytes` is the size of the summary object its filters lie in, 0 if it has none.
[[nodiscard]] std::string_view FindEntryFault(const SuperfileEntry& entry,
                                              int64_t summary_size_bytes);

}  // namespace infino
