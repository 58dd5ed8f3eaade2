#include "infino/commit/upsert_rows.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/commit/change_context.h"
#include "infino/commit/commit.h"
#include "infino/commit/held_rows.h"
#include "infino/commit/key_lookup.h"
#include "infino/commit/key_values.h"
#include "infino/commit/marked_rows.h"
#include "infino/commit/replacement.h"
#include "infino/commit/row_ids.h"
#include "infino/commit/type_conversion.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {
namespace {

arrow::Status Invalid(std::string message) {
  return MakeError(ErrorKind::kInvalidArgument, std::move(message));
}

/// The column that tells rows apart; null for `_id`.
arrow::Result<const TableColumn*> FindKeyColumn(const TableSchema& schema, const std::string& on) {
  if (on == kIdColumn) return nullptr;
  const TableColumn* const column = schema.Find(on);
  if (column == nullptr) return Invalid("upsert on '" + on + "': the table has no such column");
  if (!IsKeyType(*column->field->type())) {
    return Invalid("upsert on '" + on + "': values of type " + column->field->type()->ToString() +
                   " can't tell rows apart; use integers, booleans, text, bytes, decimals, dates " +
                   "or times");
  }
  if (!column->stored()) {
    return Invalid("upsert on '" + on + "': its values are indexed, but not stored");
  }
  return column;
}

/// The given rows' keys, in their order, as the table has them.
arrow::Result<std::vector<std::optional<std::string>>> KeysOfRows(const HeldRows& rows,
                                                                  const arrow::Field& key) {
  const int source = rows.schema()->GetFieldIndex(key.name());
  if (source < 0) return Invalid("upsert on '" + key.name() + "': the rows lack that column");
  ARROW_RETURN_NOT_OK(CheckConvertible(*rows.schema()->field(source)->type(), key, key.name()));
  std::vector<std::optional<std::string>> keys;
  for (const auto& batch : rows.batches()) {
    ARROW_ASSIGN_OR_RAISE(const auto values, ConvertArray(batch->column(source), key, key.name()));
    std::ranges::move(KeysOf(*values), std::back_inserter(keys));
  }
  return keys;
}

class RowUpsert {
 public:
  RowUpsert(const ChangeContext& context, std::string on, HeldRows rows)
      : context_(context), on_(std::move(on)), rows_(std::move(rows)) {}

  arrow::Result<CommitOutcome> Make() {
    const std::chrono::nanoseconds started = context_.environment->clock->Monotonic();
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<const Snapshot> base,
                          context_.target->loader->Newest(*context_.stop));
    ARROW_ASSIGN_OR_RAISE(const TableColumn* column, FindKeyColumn(base->root.schema, on_));
    if (rows_.row_count() == 0) {
      return CommitOutcome{.fit = Fit::kNothingLeft, .version = base->version()};
    }
    ARROW_ASSIGN_OR_RAISE(const KeyLookup lookup, MakeLookup(column));
    ARROW_ASSIGN_OR_RAISE(const KeyMatches found,
                          lookup.Find(context_.On(*base), EntriesOf(*base)));
    matched_ = found.ids.size();
    std::vector<RowId> ids = GiveIds(found);
    std::vector<int64_t> order(ids.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::ranges::sort(order, {}, [&](int64_t row) { return ids[static_cast<size_t>(row)]; });
    HeldRows written = rows_;
    if (on_ == kIdColumn) {
      ARROW_ASSIGN_OR_RAISE(written, written.WithoutColumn(written.schema()->GetFieldIndex(on_)));
    }
    ARROW_ASSIGN_OR_RAISE(written, written.InOrder(order));
    std::ranges::sort(ids);
    Replacement replacement{
        .operation = "upsert",
        .marked = MarkedRows(base),
        .rows = &written,
        .ids = std::make_shared<const std::vector<RowId>>(std::move(ids)),
        .started = started,
        .concerns = [&lookup](const QueryContext& context,
                              std::span<const SuperfileEntry* const> added) -> arrow::Result<bool> {
          ARROW_ASSIGN_OR_RAISE(const KeyMatches more, lookup.Find(context, added));
          return !more.ids.empty();
        }};
    replacement.marked.Add(found.rows);
    return CommitReplacement(context_, std::move(replacement));
  }

  [[nodiscard]] uint64_t matched() const { return matched_; }

 private:
  /// The look-up of the rows' keys; remembers where among them each row's is.
  arrow::Result<KeyLookup> MakeLookup(const TableColumn* column) {
    const std::shared_ptr<arrow::Field> id =
        arrow::field(std::string(kIdColumn), IdField()->type());
    const arrow::Field& key = column == nullptr ? *id : *column->field;
    ARROW_ASSIGN_OR_RAISE(const auto keys, KeysOfRows(rows_, key));
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> wanted;
    places_.clear();
    for (const std::optional<std::string>& each : keys) {
      places_.emplace_back();
      if (!each) continue;
      if (!seen.insert(*each).second) {
        return Invalid("upsert on '" + on_ + "': several of the rows have the value " +
                       DescribeKey(*each, *key.type()));
      }
      places_.back() = wanted.size();
      wanted.push_back(*each);
    }
    return KeyLookup(column, std::move(wanted));
  }

  /// The id of each row: of the row it replaces, else a new one.
  std::vector<RowId> GiveIds(const KeyMatches& found) {
    const RowId first = context_.ids->Begin();
    uint64_t new_count = 0;
    std::vector<RowId> ids;
    ids.reserve(places_.size());
    for (const std::optional<size_t>& place : places_) {
      const auto known = place ? found.ids.find(*place) : found.ids.end();
      ids.push_back(known != found.ids.end() ? known->second : first.Plus(new_count++));
    }
    context_.ids->End(first, new_count);
    return ids;
  }

  const ChangeContext& context_;
  const std::string on_;
  const HeldRows rows_;
  std::vector<std::optional<size_t>> places_;  ///< By row; nothing for a null.
  uint64_t matched_ = 0;
};

}  // namespace

arrow::Result<ChangeResult> UpsertRows(const ChangeContext& context, const std::string& on,
                                       arrow::RecordBatchReader& rows) {
  ARROW_ASSIGN_OR_RAISE(
      HeldRows held, HeldRows::Read(rows, context.environment->memory_budget_bytes, *context.stop));
  const uint64_t given = held.row_count();
  RowUpsert upsert(context, on, std::move(held));
  ARROW_ASSIGN_OR_RAISE(const CommitOutcome outcome,
                        StartOverUntilDone(context, [&](bool) { return upsert.Make(); }));
  return ChangeResult{.matched = upsert.matched(),
                      .tombstoned = upsert.matched(),
                      .not_found = given - upsert.matched(),
                      .version = outcome.version};
}

}  // namespace infino
