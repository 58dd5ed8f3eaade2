#include "infino/supertable/term_filters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/summary_reads.h"

namespace infino {
namespace {

const SummaryRef* FindFilter(const SuperfileEntry& entry, int32_t field_id) {
  const auto found =
      std::find_if(entry.term_filters.begin(), entry.term_filters.end(),
                   [&](const SummaryRef& filter) { return filter.field_id == field_id; });
  return found == entry.term_filters.end() ? nullptr : &*found;
}

}  // namespace

arrow::Result<std::shared_ptr<const ColumnTermFilters>> LoadTermFilters(
    ObjectStore& store, std::string_view folder, const Snapshot& snapshot, int32_t field_id,
    const ColumnTermFilters* known, const StopCondition& stop) {
  auto filters = std::make_shared<ColumnTermFilters>();
  filters->field_id = field_id;
  std::vector<WantedSummary> wanted;
  std::vector<SuperfileId> superfiles;
  for (const Snapshot::File& file : snapshot.files) {
    const SuperfileId& id = file.entry->id;
    if (known != nullptr) {
      if (const auto found = known->by_superfile.find(id); found != known->by_superfile.end()) {
        filters->by_superfile.insert(*found);
        continue;
      }
    }
    const SummaryRef* ref = FindFilter(*file.entry, field_id);
    if (ref == nullptr) continue;
    wanted.push_back(
        {.ref = ref, .object = &file.part->summaries[static_cast<size_t>(ref->summary)]});
    superfiles.push_back(id);
  }
  ARROW_ASSIGN_OR_RAISE(auto pieces, ReadSummaries(store, folder, wanted, "term filter", stop));
  for (size_t i = 0; i < pieces.size(); ++i) {
    filters->by_superfile.emplace(superfiles[i], std::move(pieces[i]));
  }
  return filters;
}

}  // namespace infino
