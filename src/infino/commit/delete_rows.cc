#include "infino/commit/delete_rows.h"

#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/marked_rows.h"
#include "infino/common/failpoint.h"
#include "infino/manifest/manifest_change.h"
#include "infino/query/condition.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

/// The rows a predicate deletes, brought to each version that the delete is tried on.
class Deletion {
 public:
  Deletion(const ChangeContext& context, const std::string& predicate,
           std::shared_ptr<const Snapshot> base)
      : context_(context), predicate_(predicate), marked_(std::move(base)) {}

  arrow::Status MarkAll() { return Mark(context_.On(*marked_.base()), EntriesOf(*marked_.base())); }

  arrow::Result<Fit> FitTo(const std::shared_ptr<const Snapshot>& snapshot,
                           ManifestChange& change) {
    const QueryContext query = context_.On(*snapshot);
    if (snapshot->version() != marked_.base()->version()) {
      ARROW_ASSIGN_OR_RAISE(const MarkedRows::Moved moved, marked_.Follow(query, snapshot));
      if (moved.changed_schema) {
        marked_ = MarkedRows(snapshot);
        ARROW_RETURN_NOT_OK(MarkAll());
      } else if (!moved.added.empty()) {
        ARROW_RETURN_NOT_OK(Mark(query, moved.added));
      }
    }
    if (marked_.count() == 0) return Fit::kNothingLeft;
    ARROW_ASSIGN_OR_RAISE(change.tombstones, marked_.NextTombstones(query));
    return Fit::kFits;
  }

  [[nodiscard]] uint64_t count() const { return marked_.count(); }

 private:
  arrow::Status Mark(const QueryContext& query, std::span<const SuperfileEntry* const> entries) {
    ARROW_ASSIGN_OR_RAISE(const RowSelection rows, SelectByPredicate(query, predicate_, entries));
    marked_.Add(rows);
    return arrow::Status::OK();
  }

  const ChangeContext& context_;
  const std::string& predicate_;
  MarkedRows marked_;
};

}  // namespace

arrow::Result<ChangeResult> DeleteRows(const ChangeContext& context, const std::string& predicate) {
  CommitRequest request;
  request.started = context.environment->clock->Monotonic();
  request.change.operation = "delete";
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const Snapshot> base,
                        context.target->loader->Newest(*context.stop));
  Deletion deletion(context, predicate, base);
  ARROW_RETURN_NOT_OK(deletion.MarkAll());
  if (deletion.count() == 0) return ChangeResult{.version = base->version()};
  INFINO_FAILPOINT("delete.marked");
  request.fit = [&](const std::shared_ptr<const Snapshot>& snapshot, ManifestChange& change) {
    return deletion.FitTo(snapshot, change);
  };
  ARROW_ASSIGN_OR_RAISE(
      const CommitOutcome outcome,
      CommitChange(*context.environment, *context.target, std::move(request), *context.stop));
  return ChangeResult{.matched = deletion.count(),
                      .tombstoned = deletion.count(),
                      .not_found = 0,
                      .version = outcome.version};
}

}  // namespace infino
