#include "infino/commit/replacement.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/append_builder.h"
#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/marked_rows.h"
#include "infino/commit/schema_growth.h"
#include "infino/common/failpoint.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/query/query_environment.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

arrow::Result<Fit> FitTo(const ChangeContext& context, Replacement& replacement,
                         const std::shared_ptr<const Snapshot>& snapshot, ManifestChange& change) {
  const QueryContext query = context.On(*snapshot);
  MarkedRows& marked = replacement.marked;
  if (snapshot->version() != marked.base()->version()) {
    ARROW_ASSIGN_OR_RAISE(const MarkedRows::Moved moved, marked.Follow(query, snapshot));
    if (moved.lost_rows || moved.changed_schema) return Fit::kStartOver;
    if (!moved.added.empty()) {
      ARROW_ASSIGN_OR_RAISE(const bool concerned, replacement.concerns(query, moved.added));
      if (concerned) return Fit::kStartOver;
    }
  }
  ARROW_ASSIGN_OR_RAISE(change.tombstones, marked.NextTombstones(query));
  return Fit::kFits;
}

}  // namespace

arrow::Result<CommitOutcome> CommitReplacement(const ChangeContext& context,
                                               Replacement replacement) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, replacement.rows->ToReader());
  const std::shared_ptr<const Snapshot> base = replacement.marked.base();
  TableSchema schema = base->root.schema;
  if (!context.environment->strict_schema) {
    ARROW_ASSIGN_OR_RAISE(schema, GrowSchema(schema, *reader->schema()));
  }
  ARROW_ASSIGN_OR_RAISE(
      BuiltAppend built,
      BuildSuperfiles(*context.environment,
                      {.folder = context.target->folder,
                       .base = base,
                       .schema = schema,
                       .first_id = {},
                       .ids = replacement.ids},
                      reader.get(), {.progress = nullptr, .stop = *context.stop}));
  INFINO_FAILPOINT("replace.built");
  CommitRequest request = RequestOf(std::move(built), replacement.operation, replacement.started);
  request.fit = [&](const std::shared_ptr<const Snapshot>& snapshot,
                    ManifestChange& change) -> arrow::Result<Fit> {
    ARROW_ASSIGN_OR_RAISE(const Fit fit, FitTo(context, replacement, snapshot, change));
    if (fit != Fit::kFits) return fit;
    ARROW_ASSIGN_OR_RAISE(change.schema, SchemaForFiles(snapshot->root.schema, schema));
    return fit;
  };
  return CommitChange(*context.environment, *context.target, std::move(request), *context.stop);
}

arrow::Result<CommitOutcome> StartOverUntilDone(
    const ChangeContext& context,
    const std::function<arrow::Result<CommitOutcome>(bool is_first)>& make) {
  const WriterEnvironment& environment = *context.environment;
  const auto deadline =
      environment.clock->Monotonic() + std::chrono::milliseconds(environment.commit_timeout_ms);
  for (bool is_first = true;; is_first = false) {
    ARROW_ASSIGN_OR_RAISE(const CommitOutcome outcome, make(is_first));
    if (outcome.fit != Fit::kStartOver) return outcome;
    if (environment.clock->Monotonic() >= deadline) {
      return MakeError(ErrorKind::kConflict,
                       "change rows of " + context.target->folder +
                           ": other commits changed them again and again; commit_timeout_ms=" +
                           std::to_string(environment.commit_timeout_ms));
    }
  }
}

}  // namespace infino
