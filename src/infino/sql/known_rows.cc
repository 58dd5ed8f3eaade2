#include "infino/sql/known_rows.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "duckdb/common/serializer/binary_serializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "infino/common/content_hash.h"
#include "infino/index/doc_filter.h"
#include "infino/query/condition_cache.h"
#include "infino/sql/execution.h"
#include "infino/sql/row_scan.h"
#include "infino/sql/statement_state.h"

namespace infino::sql {
namespace {

using Conditions = duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>;

/// Longer ones, such as those with long lists, are not kept.
constexpr uint64_t kTextMax = 4096;

/// All that decides which rows fulfil the conditions; nothing if another moment may decide.
std::optional<std::string> TextOf(const Conditions& conditions, const ContentHash& schema) {
  std::string text = schema.ToHex();
  for (const auto& condition : conditions) {
    if (condition->IsVolatile() || !condition->IsConsistent()) return std::nullopt;
    duckdb::MemoryStream stream;
    try {
      duckdb::BinarySerializer::Serialize(*condition, stream);
    } catch (const std::exception&) {
      return std::nullopt;  // Not all functions can be written down.
    }
    if (text.size() + stream.GetPosition() > kTextMax) return std::nullopt;
    text.append(stream.GetData(), stream.GetData() + stream.GetPosition());
  }
  return text;
}

}  // namespace

arrow::Result<RowSelection> SelectKnownRows(duckdb::ClientContext& context,
                                            const QueryContext& query,
                                            std::span<const SuperfileEntry* const> entries,
                                            const Conditions& conditions,
                                            const std::vector<SqlColumn>& columns) {
  const auto scan = [&](std::span<const SuperfileEntry* const> scanned) {
    return RowScan(*context.db, StatementState::Of(context).parquet_scan(), query, scanned,
                   StatementThread::kDuckDb)
        .Select(conditions, columns);
  };
  ConditionCache* const cache = query.environment->conditions.get();
  const std::optional<std::string> text =
      cache == nullptr ? std::nullopt : TextOf(conditions, query.snapshot->root.schema_hash);
  if (!text) return scan(entries);
  RowSelection selection;
  std::vector<const SuperfileEntry*> unknown;
  for (const SuperfileEntry* const entry : entries) {
    if (const auto rows = cache->Find(*entry, *text)) {
      selection.Set(entry->id, *rows);
    } else {
      unknown.push_back(entry);
    }
  }
  if (unknown.empty()) return selection;
  ARROW_ASSIGN_OR_RAISE(const RowSelection found, scan(unknown));
  for (const SuperfileEntry* const entry : unknown) {
    const DocFilter* const rows = found.Find(entry->id);
    const auto kept = std::make_shared<const DocFilter>(
        rows != nullptr ? *rows : DocFilter::Of(static_cast<uint32_t>(entry->row_count), {}));
    cache->Keep(*entry, *text, kept);
    selection.Set(entry->id, *kept);
  }
  return selection;
}

}  // namespace infino::sql
