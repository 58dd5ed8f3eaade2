#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>

#include "infino/manifest/manifest.h"

namespace infino {

/// Which superfiles may hold which terms, from the manifest alone. Pure. Never rules out a
/// superfile that holds a term; may keep one that does not.

/// Whether the superfile has a keyword index over `field_id`: one that is older than the column
/// has none.
[[nodiscard]] bool HasTextIndex(const SuperfileEntry& entry, int32_t field_id);

/// Whether the keyword index over `field_id` may hold `term`, by its term range. False if the
/// superfile has no such index or no tokens in it.
[[nodiscard]] bool MayHoldTerm(const SuperfileEntry& entry, int32_t field_id,
                               std::string_view term);

/// The same for any term that begins with `prefix`.
[[nodiscard]] bool MayHoldPrefix(const SuperfileEntry& entry, int32_t field_id,
                                 std::string_view prefix);

/// The ordinals, ascending, of those of `terms` that the superfile may hold: by term range and, if
/// `filter` isn't null, by that Bloom filter (its bytes, from LoadTermFilters). A filter that can't
/// be read rules nothing out.
[[nodiscard]] std::vector<uint32_t> TermsThatMayOccur(const SuperfileEntry& entry, int32_t field_id,
                                                      std::span<const std::string> terms,
                                                      const arrow::Buffer* filter);

}  // namespace infino
