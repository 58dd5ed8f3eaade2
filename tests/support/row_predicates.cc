#include "support/row_predicates.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_primitive.h>
#include <arrow/result.h>
#include <arrow/table.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/manifest/manifest.h"
#include "infino/query/projection.h"
#include "infino/query/query_environment.h"
#include "infino/query/result_rows.h"
#include "infino/query/row_selection.h"
#include "infino/query/row_selector.h"
#include "infino/query/tombstones.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

std::optional<bool> Evaluate(const std::string& predicate, int64_t row) {
  long long n = 0;  // NOLINT(google-runtime-int): sscanf's.
  long long m = 0;  // NOLINT(google-runtime-int)
  if (predicate == "true") return true;
  if (std::sscanf(predicate.c_str(), "row %% %lld = %lld", &m, &n) == 2) return row % m == n;
  if (std::sscanf(predicate.c_str(), "row = %lld", &n) == 1) return row == n;
  if (std::sscanf(predicate.c_str(), "row < %lld", &n) == 1) return row < n;
  if (std::sscanf(predicate.c_str(), "row >= %lld", &n) == 1) return row >= n;
  return std::nullopt;
}

class RowPredicates final : public RowSelector {
 public:
  arrow::Result<RowSelection> SelectRows(const QueryContext& context, const std::string& predicate,
                                         std::span<const SuperfileEntry* const> entries) override {
    if (!Evaluate(predicate, 0)) {
      return MakeError(ErrorKind::kInvalidArgument, "invalid predicate \"" + predicate + "\"");
    }
    ARROW_ASSIGN_OR_RAISE(const auto files, context.environment->superfiles->Open(
                                                *context.folder, entries, *context.stop, nullptr));
    ARROW_ASSIGN_OR_RAISE(const Tombstones tombstones, LoadTombstones(context, entries));
    ARROW_ASSIGN_OR_RAISE(
        const Projection projection,
        ResolveProjection(context.snapshot->root.schema, std::vector<std::string>{"row"}));
    RowSelection selection;
    for (size_t i = 0; i < files.size(); ++i) {
      std::vector<Hit> hits;
      for (DocId doc = 0; doc < static_cast<uint64_t>(files[i]->row_count()); ++doc) {
        hits.push_back({.id = {}, .score = 0, .file = static_cast<uint32_t>(i), .doc = doc});
      }
      ARROW_ASSIGN_OR_RAISE(const auto rows, FetchRows(hits, files, projection, context));
      const auto deleted = tombstones.Find(entries[i]->id);
      std::vector<DocId> docs;
      DocId doc = 0;
      for (const auto& chunk : rows->column(0)->chunks()) {
        const auto& numbers = static_cast<const arrow::Int64Array&>(*chunk);
        for (int64_t at = 0; at < numbers.length(); ++at, ++doc) {
          if (deleted != nullptr && deleted->deleted.Contains(doc)) continue;
          if (HoldsFor(predicate, numbers.Value(at))) docs.push_back(doc);
        }
      }
      selection.Set(entries[i]->id,
                    DocFilter::Of(static_cast<uint32_t>(entries[i]->row_count), docs));
    }
    return selection;
  }
};

}  // namespace

std::shared_ptr<RowSelector> MakeRowPredicates() {
  return std::make_shared<RowPredicates>();
}

bool HoldsFor(const std::string& predicate, int64_t row) {
  return Evaluate(predicate, row).value_or(false);
}

}  // namespace infino
