#include "infino/sql/result_origins.h"

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include <arrow/type.h>

#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "infino/sql/search_functions.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_scan.h"

namespace infino::sql {
namespace {

using duckdb::ColumnBinding;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;

/// The operators that give columns numbers of their own, by those numbers.
using Givers = std::unordered_map<duckdb::idx_t, LogicalOperator*>;

void Gather(LogicalOperator& op, Givers& givers) {
  switch (op.type) {
    case LogicalOperatorType::LOGICAL_GET:
      givers[op.Cast<duckdb::LogicalGet>().table_index] = &op;
      break;
    case LogicalOperatorType::LOGICAL_PROJECTION:
      givers[op.Cast<duckdb::LogicalProjection>().table_index] = &op;
      break;
    case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
      givers[op.Cast<duckdb::LogicalAggregate>().group_index] = &op;
      break;
    default:
      break;
  }
  for (auto& child : op.children) Gather(*child, givers);
}

std::shared_ptr<arrow::DataType> DeclaredType(const duckdb::LogicalGet& get, size_t place) {
  if (place >= get.GetColumnIds().size()) return nullptr;
  const auto column = get.GetColumnIds()[place].GetPrimaryIndex();
  const std::vector<SqlColumn>* columns = nullptr;
  if (IsSearch(get.function)) columns = &get.bind_data->Cast<SearchCall>().columns;
  if (IsTableScan(get.function)) columns = &ScannedColumns(*get.bind_data);
  if (columns == nullptr || column >= columns->size()) return nullptr;
  return (*columns)[column].declared;
}

std::shared_ptr<arrow::DataType> OriginOf(ColumnBinding binding, const Givers& givers) {
  while (true) {
    const auto found = givers.find(binding.table_index);
    if (found == givers.end()) return nullptr;
    LogicalOperator& op = *found->second;
    const duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>* expressions = &op.expressions;
    if (op.type == LogicalOperatorType::LOGICAL_GET) {
      return DeclaredType(op.Cast<duckdb::LogicalGet>(), binding.column_index);
    }
    if (op.type == LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY) {
      expressions = &op.Cast<duckdb::LogicalAggregate>().groups;
    }
    if (binding.column_index >= expressions->size()) return nullptr;
    const duckdb::Expression& expression = *(*expressions)[binding.column_index];
    if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF)
      return nullptr;
    binding = expression.Cast<duckdb::BoundColumnRefExpression>().binding;
  }
}

}  // namespace

std::vector<std::shared_ptr<arrow::DataType>> OriginsOf(LogicalOperator& plan) {
  Givers givers;
  Gather(plan, givers);
  std::vector<std::shared_ptr<arrow::DataType>> origins;
  for (const ColumnBinding& binding : plan.GetColumnBindings()) {
    origins.push_back(OriginOf(binding, givers));
  }
  return origins;
}

}  // namespace infino::sql
