#include "infino/manifest/pruner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>

#include "infino/codec/bloom_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

/// The index's summary, or null if there is none or it holds no terms.
const TextColumnSummary* FindTerms(const SuperfileEntry& entry, int32_t field_id) {
  const auto found =
      std::find_if(entry.texts.begin(), entry.texts.end(),
                   [&](const TextColumnSummary& text) { return text.field_id == field_id; });
  return found == entry.texts.end() || found->term_count == 0 ? nullptr : &*found;
}

/// An empty largest term is no bound: no string of its length was above all terms.
bool IsBelowAll(std::string_view max_term, std::string_view term) {
  return !max_term.empty() && max_term < term;
}

bool IsInRange(const TextColumnSummary& text, std::string_view term) {
  return text.min_term <= term && !IsBelowAll(text.max_term, term);
}

std::optional<BloomFilterView> OpenFilter(const arrow::Buffer* filter) {
  if (filter == nullptr) return std::nullopt;
  auto view =
      BloomFilterView::Open({filter->data(), static_cast<size_t>(filter->size())}, "a term filter");
  if (!view.ok()) return std::nullopt;
  return *view;
}

}  // namespace

bool HasTextIndex(const SuperfileEntry& entry, int32_t field_id) {
  return std::ranges::find(entry.texts, field_id, &TextColumnSummary::field_id) !=
         entry.texts.end();
}

bool MayHoldTerm(const SuperfileEntry& entry, int32_t field_id, std::string_view term) {
  const TextColumnSummary* text = FindTerms(entry, field_id);
  return text != nullptr && IsInRange(*text, term);
}

bool MayHoldPrefix(const SuperfileEntry& entry, int32_t field_id, std::string_view prefix) {
  const TextColumnSummary* text = FindTerms(entry, field_id);
  if (text == nullptr || IsBelowAll(text->max_term, prefix)) return false;
  // The smallest term is above all terms with the prefix only if it is above the prefix and does
  // not begin with it.
  const std::string_view min_term = text->min_term;
  return min_term <= prefix || min_term.starts_with(prefix);
}

std::vector<uint32_t> TermsThatMayOccur(const SuperfileEntry& entry, int32_t field_id,
                                        std::span<const std::string> terms,
                                        const arrow::Buffer* filter) {
  std::vector<uint32_t> kept;
  const TextColumnSummary* text = FindTerms(entry, field_id);
  if (text == nullptr) return kept;
  const std::optional<BloomFilterView> bloom = OpenFilter(filter);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!IsInRange(*text, terms[i])) continue;
    if (bloom && !bloom->MayContain(terms[i])) continue;
    kept.push_back(static_cast<uint32_t>(i));
  }
  return kept;
}

}  // namespace infino
