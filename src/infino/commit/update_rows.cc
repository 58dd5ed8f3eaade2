#include "infino/commit/update_rows.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/held_rows.h"
#include "infino/commit/marked_rows.h"
#include "infino/commit/replacement.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/query/condition.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

/// The ids of selected rows, ascending.
arrow::Result<std::vector<RowId>> IdsOf(const QueryContext& context, const RowSelection& rows) {
  std::vector<const SuperfileEntry*> entries;
  for (const Snapshot::File& file : context.snapshot->files) {
    if (rows.Find(file.entry->id) != nullptr) entries.push_back(file.entry);
  }
  const QueryEnvironment& environment = *context.environment;
  ARROW_ASSIGN_OR_RAISE(const auto files,
                        environment.superfiles->Open(*context.folder, entries, *context.stop,
                                                     environment.pool.get()));
  std::vector<RowId> ids;
  for (size_t i = 0; i < files.size(); ++i) {
    rows.Find(entries[i]->id)->ForEach([&](DocId doc) { ids.push_back(files[i]->IdOf(doc)); });
  }
  std::ranges::sort(ids);
  return ids;
}

arrow::Status WrongNumber(uint64_t matched, uint64_t given, bool is_first) {
  const std::string message = "cardinality mismatch: predicate matched " + std::to_string(matched) +
                              " rows; new_rows has " + std::to_string(given);
  if (is_first) return MakeError(ErrorKind::kInvalidArgument, message);
  return MakeError(ErrorKind::kConflict,
                   message + "; another commit changed the rows that match meanwhile");
}

class RowUpdate {
 public:
  RowUpdate(const ChangeContext& context, const std::string& predicate, const HeldRows& rows)
      : context_(context), predicate_(predicate), rows_(rows) {}

  arrow::Result<CommitOutcome> Make(bool is_first) {
    const std::chrono::nanoseconds started = context_.environment->clock->Monotonic();
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const Snapshot> base,
                          context_.target->loader->Newest(*context_.stop));
    const QueryContext query = context_.On(*base);
    ARROW_ASSIGN_OR_RAISE(const RowSelection matched,
                          SelectByPredicate(query, predicate_, EntriesOf(*base)));
    const auto count = static_cast<uint64_t>(matched.row_count());
    if (count != rows_.row_count()) return WrongNumber(count, rows_.row_count(), is_first);
    if (count == 0) return CommitOutcome{.fit = Fit::kNothingLeft, .version = base->version()};
    ARROW_ASSIGN_OR_RAISE(std::vector<RowId> ids, IdsOf(query, matched));
    Replacement replacement{
        .operation = "update",
        .marked = MarkedRows(base),
        .rows = &rows_,
        .ids = std::make_shared<const std::vector<RowId>>(std::move(ids)),
        .started = started,
        .concerns = [this](const QueryContext& context,
                           std::span<const SuperfileEntry* const> added) -> arrow::Result<bool> {
          ARROW_ASSIGN_OR_RAISE(const RowSelection more,
                                SelectByPredicate(context, predicate_, added));
          return !more.empty();
        }};
    replacement.marked.Add(matched);
    return CommitReplacement(context_, std::move(replacement));
  }

 private:
  const ChangeContext& context_;
  const std::string& predicate_;
  const HeldRows& rows_;
};

}  // namespace

arrow::Result<ChangeResult> UpdateRows(const ChangeContext& context, const std::string& predicate,
                                       arrow::RecordBatchReader& rows) {
  ARROW_ASSIGN_OR_RAISE(
      const HeldRows held,
      HeldRows::Read(rows, context.environment->memory_budget_bytes, *context.stop));
  RowUpdate update(context, predicate, held);
  ARROW_ASSIGN_OR_RAISE(
      const CommitOutcome outcome,
      StartOverUntilDone(context, [&](bool is_first) { return update.Make(is_first); }));
  return ChangeResult{.matched = held.row_count(),
                      .tombstoned = held.row_count(),
                      .not_found = 0,
                      .version = outcome.version};
}

}  // namespace infino
