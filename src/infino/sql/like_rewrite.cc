#include "infino/sql/like_rewrite.h"

#include <string>
#include <utility>

#include "duckdb/common/types/value.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"

namespace infino::sql {
namespace {

using duckdb::Expression;
using ExpressionPtr = duckdb::unique_ptr<Expression>;

constexpr char kLastAscii = '\x7F';
constexpr char kLastContinuation = '\xBF';

/// Whether the byte before the first wildcard can't be counted up.
bool EndsInLastByte(const std::string& pattern) {
  const size_t wildcard = pattern.find_first_of("%_");
  const std::string beginning = pattern.substr(0, wildcard);
  return !beginning.empty() &&
         (beginning.back() == kLastAscii || beginning.back() == kLastContinuation);
}

bool IsTroublesome(duckdb::ClientContext& context, const Expression& expression) {
  if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_FUNCTION) return false;
  const auto& call = expression.Cast<duckdb::BoundFunctionExpression>();
  if (call.function.name != "~~" || call.children.size() != 2) return false;
  const Expression& pattern = *call.children[1];
  duckdb::Value value;
  return pattern.return_type.id() == duckdb::LogicalTypeId::VARCHAR && pattern.IsFoldable() &&
         duckdb::ExpressionExecutor::TryEvaluateScalar(context, pattern, value) &&
         !value.IsNull() && EndsInLastByte(duckdb::StringValue::Get(value));
}

void Rewrite(duckdb::ClientContext& context, ExpressionPtr& expression) {
  duckdb::ExpressionIterator::EnumerateChildren(
      *expression, [&](ExpressionPtr& child) { Rewrite(context, child); });
  if (!IsTroublesome(context, *expression)) return;
  const duckdb::string alias = expression->GetAlias();
  duckdb::vector<ExpressionPtr> arguments =
      std::move(expression->Cast<duckdb::BoundFunctionExpression>().children);
  arguments.push_back(duckdb::make_uniq<duckdb::BoundConstantExpression>(duckdb::Value("")));
  duckdb::ErrorData error;
  expression = duckdb::FunctionBinder(context).BindScalarFunction(DEFAULT_SCHEMA, "like_escape",
                                                                  std::move(arguments), error);
  if (expression == nullptr) error.Throw();
  expression->SetAlias(alias);
}

}  // namespace

void RewriteLikes(duckdb::ClientContext& context, duckdb::LogicalOperator& plan) {
  duckdb::LogicalOperatorVisitor::EnumerateExpressions(
      plan, [&](ExpressionPtr* expression) { Rewrite(context, *expression); });
  for (const auto& child : plan.children) RewriteLikes(context, *child);
}

}  // namespace infino::sql
