#include "infino/query/id_lookup.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// Those of `ids`, which ascend, that are in the entry's range.
std::span<const RowId> IdsInRange(std::span<const RowId> ids, const SuperfileEntry& entry) {
  const auto begin = std::ranges::lower_bound(ids, entry.min_id);
  const auto end = std::ranges::upper_bound(ids, entry.max_id);
  return begin < end ? std::span(begin, end) : std::span<const RowId>();
}

}  // namespace

arrow::Result<LocatedRows> LocateRows(const QueryContext& context, std::span<const RowId> ids,
                                      std::span<const SuperfileEntry* const> entries) {
  std::vector<RowId> wanted(ids.begin(), ids.end());
  std::ranges::sort(wanted);
  wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
  LocatedRows located;
  std::vector<std::span<const RowId>> in_range;
  for (const SuperfileEntry* entry : entries) {
    if (entry->live_row_count() == 0) continue;
    const std::span<const RowId> here = IdsInRange(wanted, *entry);
    if (here.empty()) continue;
    located.entries.push_back(entry);
    in_range.push_back(here);
  }
  ARROW_ASSIGN_OR_RAISE(OpenedFiles opened, OpenFiles(context, located.entries));
  located.files = std::move(opened.files);
  for (size_t i = 0; i < located.files.size(); ++i) {
    const DocFilter* const live = opened.tombstones.LiveRowsOf(located.entries[i]->id);
    for (const RowId& id : in_range[i]) {
      const std::optional<DocId> doc = located.files[i]->FindId(id);
      if (!doc || (live != nullptr && !live->Passes(*doc))) continue;
      located.rows.emplace(
          id, Hit{.id = id, .score = 0.0F, .file = static_cast<uint32_t>(i), .doc = *doc});
    }
  }
  return located;
}

}  // namespace infino
