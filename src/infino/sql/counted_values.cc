#include "infino/sql/counted_values.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/function/aggregate_function.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/query/value_counts.h"
#include "infino/query/value_counts_cache.h"
#include "infino/sql/bound_copy.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/plain_value.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_source.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using duckdb::Value;

struct BoundColumn final : duckdb::TableFunctionData {
  BoundColumn(const PinnedTable& of_table, SqlColumn of_column)
      : table(of_table), column(std::move(of_column)) {}

  [[nodiscard]] duckdb::unique_ptr<duckdb::FunctionData> Copy() const override {
    return duckdb::make_uniq<BoundColumn>(table, column);
  }

  [[nodiscard]] bool Equals(const duckdb::FunctionData& other) const override {
    return this == &other;
  }

  const PinnedTable& table;
  const SqlColumn column;
};

/// What is left to be given.
struct Progress final : duckdb::GlobalTableFunctionState {
  std::shared_ptr<const ColumnValueCounts> counts;
  std::map<std::string, int64_t>::const_iterator next;
  bool has_null = false;
  duckdb::vector<duckdb::column_t> columns;
};

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(ClientContext& context,
                                                           duckdb::TableFunctionInitInput& input) {
  const auto& bound = input.bind_data->Cast<BoundColumn>();
  const QueryEnvironment& environment = StatementState::Of(context).environment();
  const StopCondition stop = StopOf(context);
  const QueryContext query = {.environment = &environment,
                              .snapshot = bound.table.snapshot.get(),
                              .folder = &bound.table.folder,
                              .stop = &stop};
  const auto* const column = query.snapshot->root.schema.FindById(bound.column.field_id);
  auto progress = duckdb::make_uniq<Progress>();
  progress->counts = ValueOrThrow(context, environment.value_counts->Get(query, *column));
  progress->next = progress->counts->total.values.begin();
  progress->has_null = progress->counts->total.null_count > 0;
  progress->columns = input.column_ids;
  return progress;
}

void Give(ClientContext& /*context*/, duckdb::TableFunctionInput& input, duckdb::DataChunk& chunk) {
  const auto& bound = input.bind_data->Cast<BoundColumn>();
  auto& progress = input.global_state->Cast<Progress>();
  const LiveValueCounts& total = progress.counts->total;
  duckdb::idx_t row = 0;
  const auto add = [&](const Value& value, int64_t count) {
    for (duckdb::idx_t i = 0; i < progress.columns.size(); ++i) {
      if (progress.columns[i] == kValuePlace) chunk.SetValue(i, row, value);
      if (progress.columns[i] == kCountPlace) chunk.SetValue(i, row, Value::BIGINT(count));
    }
    ++row;
  };
  for (; progress.next != total.values.end() && row < STANDARD_VECTOR_SIZE; ++progress.next) {
    add(PlainValue(bound.column, progress.next->first), progress.next->second);
  }
  if (progress.has_null && row < STANDARD_VECTOR_SIZE) {
    add(Value(bound.column.type), total.null_count);
    progress.has_null = false;
  }
  chunk.SetCardinality(row);
}

duckdb::InsertionOrderPreservingMap<duckdb::string> Explain(
    duckdb::TableFunctionToStringInput& input) {
  const auto& bound = input.bind_data->Cast<BoundColumn>();
  duckdb::InsertionOrderPreservingMap<duckdb::string> lines;
  lines["Table"] = bound.table.name;
  lines["Column"] = bound.column.name;
  return lines;
}

duckdb::unique_ptr<duckdb::FunctionData> RefuseToBind(
    ClientContext& /*context*/, duckdb::TableFunctionBindInput& /*input*/,
    duckdb::vector<duckdb::LogicalType>& /*types*/, duckdb::vector<duckdb::string>& /*names*/) {
  throw duckdb::BinderException("counts of values are read by asking for them: GROUP BY a column");
}

duckdb::TableFunction Function() {
  duckdb::TableFunction function("infino_value_counts", {}, Give, RefuseToBind, Start);
  function.projection_pushdown = true;
  function.to_string = Explain;
  LetPlansBeCopied(function);
  return function;
}

struct SumState {
  int64_t sum;
};

struct SumOperation {
  template <typename State>
  static void Initialize(State& state) {
    state.sum = 0;
  }

  template <typename Input, typename State, typename Op>
  static void Operation(State& state, const Input& input, duckdb::AggregateUnaryInput& /*unary*/) {
    state.sum += input;
  }

  template <typename Input, typename State, typename Op>
  static void ConstantOperation(State& state, const Input& input,
                                duckdb::AggregateUnaryInput& /*unary*/, duckdb::idx_t count) {
    state.sum += input * static_cast<int64_t>(count);
  }

  template <typename State, typename Op>
  static void Combine(const State& source, State& target, duckdb::AggregateInputData& /*input*/) {
    target.sum += source.sum;
  }

  template <typename Result, typename State>
  static void Finalize(State& state, Result& target, duckdb::AggregateFinalizeData& /*finalize*/) {
    target = state.sum;
  }

  static bool IgnoreNull() { return true; }
};

}  // namespace

CountedValues BindCountedValues(const PinnedTable& table, const SqlColumn& column) {
  return {.function = Function(), .bound = duckdb::make_uniq<BoundColumn>(table, column)};
}

bool IsCountedValues(const duckdb::TableFunction& function) {
  return function.init_global == Start;
}

duckdb::AggregateFunction SumOfCounts() {
  auto sum = duckdb::AggregateFunction::UnaryAggregate<SumState, int64_t, int64_t, SumOperation>(
      duckdb::LogicalType::BIGINT, duckdb::LogicalType::BIGINT,
      duckdb::FunctionNullHandling::SPECIAL_HANDLING);
  sum.name = "infino_sum_of_counts";
  return sum;
}

void RegisterCountedValues(duckdb::DatabaseInstance& database) {
  duckdb::ExtensionLoader loader(database, "infino");
  loader.RegisterFunction(Function());
  loader.RegisterFunction(SumOfCounts());
}

}  // namespace infino::sql
