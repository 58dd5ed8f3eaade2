#include "infino/manifest/entry_rules.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/superfile/superfile_summary.h"

namespace infino {
namespace {

/// 10^38 - 1, the largest `_id`.
/// An empty footer's: its length and the magic.
constexpr int64_t kFooterLengthMin = 8;

constexpr RowId kMaxId{.high = 0x4B3B4CA85A86C47AU, .low = 0x098A223FFFFFFFFFU};

bool IsInside(const ByteRange& range, int64_t size_bytes) {
  return range.offset >= 0 && range.length > 0 && range.length <= size_bytes &&
         range.offset <= size_bytes - range.length;
}

bool IsCount(int64_t value, int64_t limit) {
  return value >= 0 && value <= limit;
}

template <typename T>
bool HasDistinctFieldIds(const std::vector<T>& values) {
  std::vector<int32_t> ids;
  ids.reserve(values.size());
  for (const T& value : values) ids.push_back(value.field_id);
  std::sort(ids.begin(), ids.end());
  return (ids.empty() || ids.front() >= 0) &&
         std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

std::string_view FindFileFault(const SuperfileEntry& entry) {
  if (entry.size_bytes <= 0) return "size is not positive";
  if (!IsInside(entry.open_section, entry.size_bytes)) return "open section is outside the file";
  if (entry.footer.length < kFooterLengthMin ||
      entry.footer.length > entry.size_bytes - entry.open_section.end()) {
    return "footer is not behind the open section";
  }
  if (entry.row_count <= 0) return "row count is not positive";
  if (entry.max_id < entry.min_id || entry.max_id > kMaxId) return "bad range of ids";
  const auto steps = static_cast<uint64_t>(entry.row_count - 1);
  const RowId least_max = entry.min_id.Plus(steps);
  if (least_max < entry.min_id || entry.max_id < least_max) return "more rows than ids";
  return {};
}

std::string_view FindColumnFault(const ColumnStats& stats, int64_t row_count) {
  if (!IsCount(stats.null_count, row_count)) return "bad null count";
  if (!stats.has_bounds && (!stats.min.empty() || !stats.max.empty())) return "stray bounds";
  if (!stats.has_bounds && (stats.min_exact || stats.max_exact)) return "exact without bounds";
  return {};
}

std::string_view FindTextFault(const TextColumnSummary& text, int64_t row_count) {
  if (!IsCount(text.rows_with_token, row_count)) return "bad number of rows with a token";
  if (text.token_total < text.rows_with_token) return "fewer tokens than rows with a token";
  if (!IsCount(text.term_count, text.token_total)) return "bad number of terms";
  const bool is_empty = text.token_total == 0;
  if (is_empty != (text.rows_with_token == 0) || is_empty != (text.term_count == 0)) {
    return "tokens, terms and rows with a token disagree";
  }
  if (!text.max_term.empty() && text.max_term < text.min_term) return "bad range of terms";
  return {};
}

std::string_view FindTombstonesFault(const SuperfileEntry& entry) {
  if (!entry.tombstones) return {};
  const TombstonesRef& tombstones = *entry.tombstones;
  if (tombstones.deleted_count <= 0 || tombstones.deleted_count > entry.row_count) {
    return "bad number of deleted rows";
  }
  if (tombstones.object.size_bytes <= 0) return "tombstones of no size";
  if (tombstones.object.name.empty()) return "tombstones without a name";
  return {};
}

}  // namespace

std::string_view FindEntryFault(const SuperfileEntry& entry, int64_t summary_size_bytes) {
  if (const auto fault = FindFileFault(entry); !fault.empty()) return fault;
  for (const ColumnStats& stats : entry.columns) {
    if (const auto fault = FindColumnFault(stats, entry.row_count); !fault.empty()) return fault;
  }
  for (const TextColumnSummary& text : entry.texts) {
    if (const auto fault = FindTextFault(text, entry.row_count); !fault.empty()) return fault;
  }
  for (const SummaryRef& filter : entry.term_filters) {
    if (!IsInside(filter.place, summary_size_bytes)) return "term filter outside its summary";
  }
  for (const SummaryRef& counts : entry.value_counts) {
    if (!IsInside(counts.place, summary_size_bytes)) return "value counts outside their summary";
  }
  if (!HasDistinctFieldIds(entry.columns) || !HasDistinctFieldIds(entry.texts) ||
      !HasDistinctFieldIds(entry.term_filters) || !HasDistinctFieldIds(entry.value_counts)) {
    return "a column is described twice, or by a negative field id";
  }
  return FindTombstonesFault(entry);
}

}  // namespace infino
