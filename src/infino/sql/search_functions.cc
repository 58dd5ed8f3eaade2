#include "infino/sql/search_functions.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>

#include "duckdb/function/function_set.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/query/projection.h"
#include "infino/query/row_selection.h"
#include "infino/query/row_selector.h"
#include "infino/query/text_executor.h"
#include "infino/query/vector_executor.h"
#include "infino/search.h"
#include "infino/sql/arrow_columns.h"
#include "infino/sql/bound_copy.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/known_rows.h"
#include "infino/sql/search_arguments.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_names.h"
#include "infino/sql/table_source.h"
#include "infino/supertable/snapshot.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using TableResult = arrow::Result<std::shared_ptr<arrow::Table>>;

struct FormInfo final : duckdb::TableFunctionInfo {
  explicit FormInfo(SearchForm of) : form(std::move(of)) {}

  const SearchForm form;
};

/// What SQL calls the column that a caller names: as it was declared, or as SQL shows it.
void UseSqlName(const TableSchema& declared, const std::vector<SqlColumn>& columns,
                std::string& name) {
  const TableColumn* column = declared.Find(name);
  if (column == nullptr) return;
  const auto named = std::ranges::find(columns, column->field_id, &SqlColumn::field_id);
  if (named != columns.end()) name = named->name;
}

void UseSqlNames(const TableSchema& declared, const std::vector<SqlColumn>& columns,
                 SearchRequest& request) {
  std::visit(
      [&](auto& search) {
        using Search = std::decay_t<decltype(search)>;
        if constexpr (std::is_same_v<Search, HybridSearchRequest>) {
          UseSqlName(declared, columns, search.text_column);
          UseSqlName(declared, columns, search.vector_column);
        } else {
          UseSqlName(declared, columns, search.column);
        }
        if constexpr (requires { search.filter; }) {
          if (search.filter) UseSqlName(declared, columns, search.filter->column);
        }
      },
      request);
}

arrow::Result<duckdb::unique_ptr<SearchCall>> MakeCall(ClientContext& context,
                                                       duckdb::TableFunctionBindInput& input) {
  const SearchForm& form = input.info->Cast<FormInfo>().form;
  auto call = duckdb::make_uniq<SearchCall>();
  call->name = form.name;
  if (input.inputs[0].IsNull()) {
    return MakeError(ErrorKind::kInvalidArgument, "the table's name must not be NULL");
  }
  ARROW_ASSIGN_OR_RAISE(const PinnedTable* table,
                        StatementState::Of(context).Find(input.inputs[0].ToString()));
  const TableSchema& declared = table->snapshot->root.schema;
  call->columns = SqlColumnsOf(declared, kScoreColumn);
  call->table = WithSqlNames(*table, call->columns);
  ARROW_ASSIGN_OR_RAISE(call->request, form.request(input.inputs, input.named_parameters));
  UseSqlNames(declared, call->columns, call->request);
  return call;
}

duckdb::unique_ptr<duckdb::FunctionData> Bind(ClientContext& context,
                                              duckdb::TableFunctionBindInput& input,
                                              duckdb::vector<duckdb::LogicalType>& types,
                                              duckdb::vector<duckdb::string>& names) {
  arrow::Result<duckdb::unique_ptr<SearchCall>> call = MakeCall(context, input);
  if (!call.ok()) {
    const ErrorKind kind = KindOf(call.status()).value_or(ErrorKind::kInternal);
    ThrowIfFailed(context, MakeError(kind, std::string(input.info->Cast<FormInfo>().form.name) +
                                               ": " + call.status().message()));
  }
  for (const SqlColumn& column : (*call)->columns) {
    names.push_back(column.name);
    types.push_back(column.type);
  }
  names.emplace_back(kScoreColumn);
  types.push_back(duckdb::LogicalType::FLOAT);
  return *std::move(call);
}

/// Evaluates the conditions of a call in place of a text.
class ConditionSelector final : public RowSelector {
 public:
  ConditionSelector(ClientContext& context, const SearchCall& call)
      : context_(context), call_(call) {}

  arrow::Result<RowSelection> SelectRows(const QueryContext& context,
                                         const std::string& /*predicate*/,
                                         std::span<const SuperfileEntry* const> entries) override {
    return SelectKnownRows(context_, context, entries, call_.conditions, call_.columns);
  }

 private:
  ClientContext& context_;
  const SearchCall& call_;
};

/// Runs a request on the table that a call names.
class Runner {
 public:
  Runner(ClientContext& context, const SearchCall& call, std::vector<std::string> projection)
      : environment_(StatementState::Of(context).environment()),
        call_(call),
        projection_(std::move(projection)),
        stop_(StopOf(context)) {
    if (call.conditions.empty()) return;
    environment_.row_selector = std::make_shared<ConditionSelector>(context, call);
  }

  TableResult operator()(const TextSearchRequest& request) const {
    return Run(SearchText, request);
  }

  TableResult operator()(const MatchRequest& request) const { return Run(MatchTokens, request); }

  TableResult operator()(const ExactMatchRequest& request) const {
    return Run(MatchExactly, request);
  }

  TableResult operator()(const VectorSearchRequest& request) const {
    return Run(SearchVectors, request);
  }

  TableResult operator()(const HybridSearchRequest& request) const {
    return Run(SearchHybrid, request);
  }

 private:
  template <typename Search, typename Request>
  TableResult Run(const Search& search, Request request) const {
    request.projection = projection_;
    if (!call_.conditions.empty()) request.where = call_.name + " in SQL";
    request.stop = stop_;
    return search(environment_, *call_.table.snapshot, call_.table.folder, request);
  }

  QueryEnvironment environment_;
  const SearchCall& call_;
  const std::vector<std::string> projection_;
  const StopCondition stop_;
};

struct FoundRows final : duckdb::GlobalTableFunctionState {
  ArrowColumns rows;
  bool counts_only = false;  ///< No column is wanted, just how many rows there are.
  uint64_t left = 0;         ///< Of those.
};

/// The columns that the statement wants of the result; the score alone if it wants none.
std::vector<std::string> ProjectionOf(const SearchCall& call,
                                      const duckdb::vector<duckdb::column_t>& wanted) {
  std::vector<std::string> projection;
  for (const duckdb::column_t column : wanted) {
    if (column < call.columns.size()) {
      projection.push_back(call.columns[column].name);
    } else if (column == call.columns.size()) {
      projection.emplace_back(kScoreColumn);
    }
  }
  if (projection.empty()) projection.emplace_back(kScoreColumn);
  return projection;
}

/// How many rows a call gives, where that is known without their ids.
arrow::Result<std::optional<uint64_t>> CountOf(ClientContext& context, const SearchCall& call) {
  const auto* const match = std::get_if<MatchRequest>(&call.request);
  if (match == nullptr || !call.conditions.empty()) return std::nullopt;
  const CountRequest request{
      .column = match->column, .query = match->query, .mode = match->mode, .stop = StopOf(context)};
  ARROW_ASSIGN_OR_RAISE(const uint64_t count,
                        CountMatches(StatementState::Of(context).environment(),
                                     *call.table.snapshot, call.table.folder, request));
  return std::optional<uint64_t>(count);
}

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(ClientContext& context,
                                                           duckdb::TableFunctionInitInput& input) {
  const auto& call = input.bind_data->Cast<SearchCall>();
  auto state = duckdb::make_uniq<FoundRows>();
  state->counts_only = std::ranges::all_of(
      input.column_ids, [&](duckdb::column_t column) { return column > call.columns.size(); });
  if (state->counts_only) {
    if (const auto count = ValueOrThrow(context, CountOf(context, call))) {
      state->left = *count;
      return state;
    }
  }
  const auto rows = ValueOrThrow(
      context,
      std::visit(Runner(context, call, ProjectionOf(call, input.column_ids)), call.request));
  state->left = static_cast<uint64_t>(rows->num_rows());
  if (!state->counts_only) ThrowIfFailed(context, state->rows.Set(context, *rows));
  return state;
}

void Give(ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk& chunk) {
  auto& state = input.global_state->Cast<FoundRows>();
  if (!state.counts_only) {
    state.rows.Next(context, chunk);
    return;
  }
  const uint64_t count = std::min<uint64_t>(state.left, STANDARD_VECTOR_SIZE);
  state.left -= count;
  chunk.SetCardinality(count);
}

/// How many rows a search gives at the most.
duckdb::unique_ptr<duckdb::NodeStatistics> Estimate(ClientContext& /*context*/,
                                                    const duckdb::FunctionData* data) {
  const auto& call = data->Cast<SearchCall>();
  const ManifestTotals& totals = call.table.snapshot->root.totals;
  auto rows = static_cast<uint64_t>(totals.live_row_count());
  std::visit(
      [&](const auto& search) {
        if constexpr (requires { search.k; }) rows = std::min(rows, search.k);
      },
      call.request);
  return duckdb::make_uniq<duckdb::NodeStatistics>(rows, rows);
}

duckdb::InsertionOrderPreservingMap<duckdb::string> Explain(
    duckdb::TableFunctionToStringInput& input) {
  const auto& call = input.bind_data->Cast<SearchCall>();
  duckdb::InsertionOrderPreservingMap<duckdb::string> lines;
  lines["Search"] = call.name;
  lines["Table"] = call.table.name;
  std::string conditions;
  for (const auto& condition : call.conditions) {
    conditions += (conditions.empty() ? "" : " AND ") + condition->ToString();
  }
  if (!conditions.empty()) lines["Searched rows"] = conditions;
  return lines;
}

duckdb::TableFunction FunctionOf(const SearchForm& form) {
  duckdb::TableFunction function(form.name, form.arguments, Give, Bind, Start);
  function.named_parameters = form.named;
  function.function_info = duckdb::make_shared_ptr<FormInfo>(form);
  function.cardinality = Estimate;
  function.to_string = Explain;
  function.projection_pushdown = true;
  LetPlansBeCopied(function);
  return function;
}

}  // namespace

duckdb::unique_ptr<duckdb::FunctionData> SearchCall::Copy() const {
  auto copy = duckdb::make_uniq<SearchCall>();
  copy->name = name;
  copy->table = table;
  copy->request = request;
  copy->columns = columns;
  for (const auto& condition : conditions) copy->conditions.push_back(condition->Copy());
  return copy;
}

/// Two calls are never taken for one: each runs by itself.
bool SearchCall::Equals(const duckdb::FunctionData& other) const {
  return this == &other;
}

bool IsSearch(const duckdb::TableFunction& function) {
  return function.bind == Bind;
}

void RegisterSearches(duckdb::DatabaseInstance& database) {
  duckdb::ExtensionLoader loader(database, "infino");
  std::vector<duckdb::TableFunctionSet> sets;
  for (const SearchForm& form : SearchForms()) {
    if (sets.empty() || sets.back().name != form.name) sets.emplace_back(form.name);
    sets.back().AddFunction(FunctionOf(form));
  }
  for (const duckdb::TableFunctionSet& set : sets) loader.RegisterFunction(set);
}

}  // namespace infino::sql
