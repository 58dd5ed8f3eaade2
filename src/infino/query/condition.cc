#include "infino/query/condition.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/row_selector.h"
#include "infino/query/text_executor.h"
#include "infino/search.h"

namespace infino {

bool MayFind(const SuperfileEntry& entry, const RowSelection* selection) {
  return selection == nullptr ? entry.live_row_count() > 0 : selection->Find(entry.id) != nullptr;
}

arrow::Result<RowSelection> SelectByPredicate(const QueryContext& context,
                                              const std::string& predicate,
                                              std::span<const SuperfileEntry* const> entries) {
  RowSelector* const selector = context.environment->row_selector.get();
  if (selector == nullptr) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "evaluate \"" + predicate + "\": this build has no SQL");
  }
  std::vector<const SuperfileEntry*> with_rows;
  std::ranges::copy_if(entries, std::back_inserter(with_rows),
                       [](const SuperfileEntry* entry) { return MayFind(*entry, nullptr); });
  return selector->SelectRows(context, predicate, with_rows);
}

arrow::Result<std::optional<RowSelection>> SelectByRequest(
    const QueryContext& context, const std::optional<TextFilter>& filter, const std::string& where,
    std::span<const SuperfileEntry* const> entries) {
  std::optional<RowSelection> selection;
  if (filter) {
    ARROW_ASSIGN_OR_RAISE(selection, SelectRows(context, *filter));
  }
  if (where.empty()) return selection;
  std::vector<const SuperfileEntry*> left;
  std::ranges::copy_if(entries, std::back_inserter(left), [&](const SuperfileEntry* entry) {
    return !selection || selection->Find(entry->id) != nullptr;
  });
  ARROW_ASSIGN_OR_RAISE(RowSelection passing, SelectByPredicate(context, where, left));
  if (selection) return selection->And(passing);
  return passing;
}

}  // namespace infino
