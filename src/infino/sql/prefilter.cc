#include "infino/sql/prefilter.h"

#include <algorithm>
#include <utility>

#include "duckdb/common/enums/join_type.hpp"
#include "duckdb/common/enums/logical_operator_type.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/optimizer/optimizer_extension.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_parameter_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_filter.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_join.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "infino/sql/counted_values.h"
#include "infino/sql/like_rewrite.h"
#include "infino/sql/list_conditions.h"
#include "infino/sql/result_origins.h"
#include "infino/sql/search_functions.h"
#include "infino/sql/search_join.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/table_scan.h"
#include "infino/sql/value_counts_rule.h"

namespace infino::sql {
namespace {

using duckdb::Expression;
using duckdb::ExpressionClass;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;
using Conjuncts = duckdb::vector<duckdb::unique_ptr<Expression>>;

Conjuncts CopyOf(const Conjuncts& conjuncts) {
  Conjuncts copies;
  for (const auto& conjunct : conjuncts) copies.push_back(conjunct->Copy());
  return copies;
}

/// Puts in place of each reference to a projection's column what the column is. False if a
/// reference is to something else.
bool Replace(duckdb::unique_ptr<Expression>& expression,
             const duckdb::LogicalProjection& projection) {
  if (expression->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
    const auto& reference = expression->Cast<duckdb::BoundColumnRefExpression>();
    if (reference.depth > 0 || reference.binding.table_index != projection.table_index) {
      return false;
    }
    expression = projection.expressions[reference.binding.column_index]->Copy();
    return true;
  }
  bool replaced = true;
  duckdb::ExpressionIterator::EnumerateChildren(*expression,
                                                [&](duckdb::unique_ptr<Expression>& child) {
                                                  replaced = replaced && Replace(child, projection);
                                                });
  return replaced;
}

/// Rewrites an expression so that it can be evaluated on a row of the search: references by place
/// among the call's columns, parameters as their values. False if it needs more than the row's
/// stored columns.
bool BindToRow(duckdb::unique_ptr<Expression>& expression, const duckdb::LogicalGet& get,
               const SearchCall& call) {
  switch (expression->GetExpressionClass()) {
    case ExpressionClass::BOUND_COLUMN_REF: {
      const auto& reference = expression->Cast<duckdb::BoundColumnRefExpression>();
      if (reference.depth > 0 || reference.binding.table_index != get.table_index) return false;
      const auto column = get.GetColumnIds()[reference.binding.column_index].GetPrimaryIndex();
      if (column >= call.columns.size()) return false;
      expression =
          duckdb::make_uniq<duckdb::BoundReferenceExpression>(reference.return_type, column);
      return true;
    }
    case ExpressionClass::BOUND_PARAMETER: {
      const auto& parameter = expression->Cast<duckdb::BoundParameterExpression>();
      if (parameter.parameter_data == nullptr) return false;
      expression = duckdb::make_uniq<duckdb::BoundConstantExpression>(
          parameter.parameter_data->GetValue().DefaultCastAs(parameter.return_type));
      return true;
    }
    case ExpressionClass::BOUND_SUBQUERY:
    case ExpressionClass::BOUND_WINDOW:
    case ExpressionClass::BOUND_AGGREGATE:
    case ExpressionClass::BOUND_UNNEST:
    case ExpressionClass::BOUND_EXPANDED:
    case ExpressionClass::BOUND_LAMBDA:
    case ExpressionClass::BOUND_LAMBDA_REF:
      return false;
    default:
      break;
  }
  bool bound = true;
  duckdb::ExpressionIterator::EnumerateChildren(
      *expression,
      [&](duckdb::unique_ptr<Expression>& child) { bound = bound && BindToRow(child, get, call); });
  return bound;
}

/// Whether an expression speaks of a row at all.
bool HasReference(const Expression& expression) {
  if (expression.GetExpressionClass() == ExpressionClass::BOUND_REF) return true;
  bool has_reference = false;
  duckdb::ExpressionIterator::EnumerateChildren(expression, [&](const Expression& child) {
    has_reference = has_reference || HasReference(child);
  });
  return has_reference;
}

void Follow(duckdb::ClientContext& context, LogicalOperator& op, const Conjuncts& conjuncts);

void FollowFilter(duckdb::ClientContext& context, LogicalOperator& op, const Conjuncts& conjuncts) {
  Conjuncts more = CopyOf(conjuncts);
  for (const auto& expression : op.expressions) more.push_back(expression->Copy());
  duckdb::LogicalFilter::SplitPredicates(more);
  Follow(context, *op.children[0], more);
}

void FollowProjection(duckdb::ClientContext& context, LogicalOperator& op,
                      const Conjuncts& conjuncts) {
  const auto& projection = op.Cast<duckdb::LogicalProjection>();
  Conjuncts below;
  for (const auto& conjunct : conjuncts) {
    auto copy = conjunct->Copy();
    if (Replace(copy, projection)) below.push_back(std::move(copy));
  }
  Follow(context, *op.children[0], below);
}

/// Whether the rows of a join's left side come through as they are, or not at all.
bool KeepsLeft(duckdb::JoinType type) {
  switch (type) {
    case duckdb::JoinType::INNER:
    case duckdb::JoinType::LEFT:
    case duckdb::JoinType::SEMI:
    case duckdb::JoinType::ANTI:
    case duckdb::JoinType::MARK:
    case duckdb::JoinType::SINGLE:
      return true;
    default:
      return false;
  }
}

/// Whether the rows of a join have to have its mark.
bool HasMark(const duckdb::LogicalComparisonJoin& join, const Conjuncts& conjuncts) {
  return join.join_type == duckdb::JoinType::MARK &&
         std::ranges::any_of(conjuncts, [&](const auto& conjunct) {
           return conjunct->GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF &&
                  conjunct->template Cast<duckdb::BoundColumnRefExpression>().binding.table_index ==
                      join.mark_index;
         });
}

/// The right side of a join that is run once a row of the left one sees other rows each time.
void FollowJoin(duckdb::ClientContext& context, LogicalOperator& op, const Conjuncts& conjuncts) {
  static const Conjuncts kNone;
  const duckdb::JoinType type = op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT
                                    ? duckdb::JoinType::INNER
                                    : op.Cast<duckdb::LogicalJoin>().join_type;
  const bool is_plain = op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN ||
                        op.type == LogicalOperatorType::LOGICAL_ANY_JOIN ||
                        op.type == LogicalOperatorType::LOGICAL_CROSS_PRODUCT;
  Conjuncts left = KeepsLeft(type) ? CopyOf(conjuncts) : Conjuncts();
  if (op.type == LogicalOperatorType::LOGICAL_COMPARISON_JOIN) {
    const auto& join = op.Cast<duckdb::LogicalComparisonJoin>();
    auto condition = HasMark(join, conjuncts) ? ListCondition(context, join) : nullptr;
    if (condition != nullptr) left.push_back(std::move(condition));
  }
  Follow(context, *op.children[0], left);
  Follow(context, *op.children[1], is_plain && type == duckdb::JoinType::INNER ? conjuncts : kNone);
}

void TakeConditions(LogicalOperator& op, const Conjuncts& conjuncts) {
  auto& get = op.Cast<duckdb::LogicalGet>();
  if (!IsSearch(get.function)) return;
  auto& call = get.bind_data->Cast<SearchCall>();
  for (const auto& conjunct : conjuncts) {
    if (conjunct->IsVolatile()) continue;
    auto condition = conjunct->Copy();
    if (BindToRow(condition, get, call) && HasReference(*condition)) {
      call.conditions.push_back(std::move(condition));
    }
  }
}

/// Goes down the plan with the conjuncts that hold for all rows that leave `op` in the end.
void Follow(duckdb::ClientContext& context, LogicalOperator& op, const Conjuncts& conjuncts) {
  switch (op.type) {
    case LogicalOperatorType::LOGICAL_FILTER:
      return FollowFilter(context, op, conjuncts);
    case LogicalOperatorType::LOGICAL_PROJECTION:
      return FollowProjection(context, op, conjuncts);
    case LogicalOperatorType::LOGICAL_ORDER_BY:
      return Follow(context, *op.children[0], conjuncts);
    case LogicalOperatorType::LOGICAL_COMPARISON_JOIN:
    case LogicalOperatorType::LOGICAL_ANY_JOIN:
    case LogicalOperatorType::LOGICAL_DELIM_JOIN:
    case LogicalOperatorType::LOGICAL_DEPENDENT_JOIN:
    case LogicalOperatorType::LOGICAL_CROSS_PRODUCT:
      return FollowJoin(context, op, conjuncts);
    case LogicalOperatorType::LOGICAL_GET:
      TakeConditions(op, conjuncts);
      break;
    default:
      break;
  }
  for (auto& child : op.children) Follow(context, *child, {});
}

bool HasSearch(const LogicalOperator& op) {
  if (op.type == LogicalOperatorType::LOGICAL_GET &&
      IsSearch(op.Cast<duckdb::LogicalGet>().function)) {
    return true;
  }
  return std::ranges::any_of(op.children, [](const auto& child) { return HasSearch(*child); });
}

/// Whether all steps of a plan are short: rows of tables and searches, one by one, not combined
/// with each other or made up.
bool HasShortSteps(const LogicalOperator& op) {
  switch (op.type) {
    case LogicalOperatorType::LOGICAL_GET: {
      const auto& function = op.Cast<duckdb::LogicalGet>().function;
      if (!IsSearch(function) && !IsTableScan(function) && !IsCountedValues(function)) return false;
      break;
    }
    case LogicalOperatorType::LOGICAL_PROJECTION:
    case LogicalOperatorType::LOGICAL_FILTER:
    case LogicalOperatorType::LOGICAL_LIMIT:
    case LogicalOperatorType::LOGICAL_ORDER_BY:
    case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
    case LogicalOperatorType::LOGICAL_DISTINCT:
    case LogicalOperatorType::LOGICAL_DUMMY_SCAN:
    case LogicalOperatorType::LOGICAL_EXPRESSION_GET:
      break;
    default:
      return false;
  }
  return std::ranges::all_of(op.children, [](const auto& child) { return HasShortSteps(*child); });
}

}  // namespace

void RegisterSearchRules(duckdb::DatabaseInstance& database) {
  duckdb::OptimizerExtension extension;
  extension.pre_optimize_function = [](duckdb::OptimizerExtensionInput& input,
                                       duckdb::unique_ptr<LogicalOperator>& plan) {
    const auto statement =
        input.context.registered_state->Get<StatementState>(StatementState::kKey);
    if (statement == nullptr) return;  // One of the database's own making.
    statement->SetOrigins(OriginsOf(*plan));
    if (HasSearch(*plan)) {
      Follow(input.context, *plan, {});
      RemoveSelfJoins(plan);
    }
    UseValueCounts(input.context, *plan);
    RewriteLikes(input.context, *plan);
    statement->SetShortSteps(HasShortSteps(*plan));
  };
  duckdb::OptimizerExtension::Register(duckdb::DBConfig::GetConfig(database), std::move(extension));
}

}  // namespace infino::sql
