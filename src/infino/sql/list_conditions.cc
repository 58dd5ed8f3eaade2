#include "infino/sql/list_conditions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "duckdb/common/enums/join_type.hpp"
#include "duckdb/common/enums/logical_operator_type.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_operator_expression.hpp"
#include "duckdb/planner/expression/bound_unnest_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/planner/operator/logical_unnest.hpp"

namespace infino::sql {
namespace {

using duckdb::Expression;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;
using Expressions = duckdb::vector<duckdb::unique_ptr<Expression>>;

/// A longer list stays a join.
constexpr size_t kElementsMax = 10'000;

/// Puts `columns` in place of references to them, as those of the table `table`. False if a
/// reference is to something else.
bool Replace(duckdb::unique_ptr<Expression>& expression, duckdb::idx_t table,
             const Expressions& columns) {
  if (expression->GetExpressionClass() == duckdb::ExpressionClass::BOUND_COLUMN_REF) {
    const auto& reference = expression->Cast<duckdb::BoundColumnRefExpression>();
    const duckdb::ColumnBinding binding = reference.binding;
    if (reference.depth > 0 || binding.table_index != table ||
        binding.column_index >= columns.size()) {
      return false;
    }
    expression = columns[binding.column_index]->Copy();
    return true;
  }
  bool replaced = true;
  duckdb::ExpressionIterator::EnumerateChildren(
      *expression, [&](duckdb::unique_ptr<Expression>& child) {
        replaced = replaced && Replace(child, table, columns);
      });
  return replaced;
}

/// The elements of the list that a plan unnests and nothing else; false if it does not.
bool ElementsOf(duckdb::ClientContext& context, const LogicalOperator& op, Expressions& elements) {
  if (op.type != LogicalOperatorType::LOGICAL_UNNEST || op.expressions.size() != 1 ||
      op.children[0]->type != LogicalOperatorType::LOGICAL_DUMMY_SCAN ||
      op.expressions[0]->GetExpressionClass() != duckdb::ExpressionClass::BOUND_UNNEST) {
    return false;
  }
  const Expression& list = *op.expressions[0]->Cast<duckdb::BoundUnnestExpression>().child;
  duckdb::Value value;
  if (!list.IsFoldable() || list.return_type.id() != duckdb::LogicalTypeId::LIST ||
      !duckdb::ExpressionExecutor::TryEvaluateScalar(context, list, value)) {
    return false;
  }
  if (value.IsNull()) return true;
  const auto& values = duckdb::ListValue::GetChildren(value);
  if (values.size() > kElementsMax) return false;
  for (const duckdb::Value& each : values) {
    elements.push_back(duckdb::make_uniq<duckdb::BoundConstantExpression>(each));
  }
  return true;
}

}  // namespace

duckdb::unique_ptr<Expression> ListCondition(duckdb::ClientContext& context,
                                             const duckdb::LogicalComparisonJoin& join) {
  if (join.join_type != duckdb::JoinType::MARK || join.conditions.size() != 1 ||
      join.conditions[0].comparison != duckdb::ExpressionType::COMPARE_EQUAL) {
    return nullptr;
  }
  auto compared = join.conditions[0].right->Copy();
  const LogicalOperator* op = join.children[1].get();
  while (op->type == LogicalOperatorType::LOGICAL_PROJECTION) {
    const auto& projection = op->Cast<duckdb::LogicalProjection>();
    if (!Replace(compared, projection.table_index, projection.expressions)) return nullptr;
    op = op->children[0].get();
  }
  Expressions elements;
  if (!ElementsOf(context, *op, elements) || elements.empty()) return nullptr;
  auto condition = duckdb::make_uniq<duckdb::BoundOperatorExpression>(
      duckdb::ExpressionType::COMPARE_IN, duckdb::LogicalType::BOOLEAN);
  condition->children.push_back(join.conditions[0].left->Copy());
  for (auto& element : elements) {
    auto evaluated = compared->Copy();
    Expressions only;
    only.push_back(std::move(element));
    duckdb::Value value;
    if (!Replace(evaluated, op->Cast<duckdb::LogicalUnnest>().unnest_index, only) ||
        !evaluated->IsFoldable() ||
        !duckdb::ExpressionExecutor::TryEvaluateScalar(context, *evaluated, value)) {
      return nullptr;
    }
    condition->children.push_back(duckdb::make_uniq<duckdb::BoundConstantExpression>(value));
  }
  return condition;
}

}  // namespace infino::sql
