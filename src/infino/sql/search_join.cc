#include "infino/sql/search_join.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "duckdb/common/enums/join_type.hpp"
#include "duckdb/common/enums/logical_operator_type.hpp"
#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_comparison_join.hpp"
#include "duckdb/planner/operator/logical_filter.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "infino/sql/search_functions.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_scan.h"

namespace infino::sql {
namespace {

using duckdb::ColumnBinding;
using duckdb::Expression;
using duckdb::LogicalGet;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;

/// The place of `_id` among the columns of scans and searches.
constexpr duckdb::idx_t kIdPlace = 0;

/// What a column of a scan is after the join was taken out: a column of the search.
struct Moved {
  ColumnBinding from;
  ColumnBinding to;
};

const LogicalGet* GetOf(const LogicalOperator& op) {
  return op.type == LogicalOperatorType::LOGICAL_GET ? &op.Cast<LogicalGet>() : nullptr;
}

bool IsIdOf(const Expression& expression, const LogicalGet& get) {
  if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COLUMN_REF) return false;
  const auto& reference = expression.Cast<duckdb::BoundColumnRefExpression>();
  return reference.depth == 0 && reference.binding.table_index == get.table_index &&
         get.GetColumnIds()[reference.binding.column_index].GetPrimaryIndex() == kIdPlace;
}

bool IsOfSameVersion(const LogicalGet& search, const LogicalGet& scan) {
  const PinnedTable& searched = search.bind_data->Cast<SearchCall>().table;
  const PinnedTable& scanned = ScannedFiles(*scan.bind_data).table();
  return searched.folder == scanned.folder &&
         searched.snapshot->version() == scanned.snapshot->version();
}

/// Whether `op` has a search and a scan of its own table, and `left` and `right` are their ids;
/// sets which side is which.
bool IsSelfPair(const LogicalOperator& op, const Expression& left, const Expression& right,
                size_t& search_side) {
  for (search_side = 0; search_side < 2; ++search_side) {
    const LogicalGet* const search = GetOf(*op.children[search_side]);
    const LogicalGet* const scan = GetOf(*op.children[1 - search_side]);
    if (search == nullptr || scan == nullptr || !IsSearch(search->function) ||
        !IsTableScan(scan->function)) {
      continue;
    }
    const bool on_ids = (IsIdOf(left, *search) && IsIdOf(right, *scan)) ||
                        (IsIdOf(left, *scan) && IsIdOf(right, *search));
    const bool declares_only = std::ranges::none_of(
        scan->GetColumnIds(),
        [](const duckdb::ColumnIndex& column) { return column.IsVirtualColumn(); });
    if (on_ids && declares_only && IsOfSameVersion(*search, *scan)) return true;
  }
  return false;
}

/// Whether a join is one of a search with its own table; sets which side is which.
bool IsSelfJoin(const LogicalOperator& op, size_t& search_side) {
  if (op.type != LogicalOperatorType::LOGICAL_COMPARISON_JOIN) return false;
  const auto& join = op.Cast<duckdb::LogicalComparisonJoin>();
  return join.join_type == duckdb::JoinType::INNER && join.conditions.size() == 1 &&
         join.conditions[0].comparison == duckdb::ExpressionType::COMPARE_EQUAL &&
         IsSelfPair(op, *join.conditions[0].left, *join.conditions[0].right, search_side);
}

/// Lets the search give the columns of the scan, and puts it in the join's place.
void TakeOut(duckdb::unique_ptr<LogicalOperator>& op, size_t search_side,
             std::vector<Moved>& moved) {
  auto& search = op->children[search_side]->Cast<LogicalGet>();
  const auto& scan = op->children[1 - search_side]->Cast<LogicalGet>();
  for (size_t i = 0; i < scan.GetColumnIds().size(); ++i) {
    const duckdb::ColumnIndex column = scan.GetColumnIds()[i];
    const auto& given = search.GetColumnIds();
    auto at = static_cast<size_t>(std::ranges::find(given, column) - given.begin());
    if (at == given.size()) search.AddColumnId(column.GetPrimaryIndex());
    moved.push_back(
        {.from = ColumnBinding(scan.table_index, i), .to = ColumnBinding(search.table_index, at)});
  }
  duckdb::unique_ptr<LogicalOperator> alone = std::move(op->children[search_side]);
  op = std::move(alone);
}

/// The same for cross products that a filter makes such joins: `FROM a, b WHERE a._id = b._id`.
/// Takes the condition out of the filter's conjuncts.
void TakeOutCrossed(duckdb::unique_ptr<LogicalOperator>& op,
                    duckdb::vector<duckdb::unique_ptr<Expression>>& conjuncts,
                    std::vector<Moved>& moved) {
  if (op->type != LogicalOperatorType::LOGICAL_CROSS_PRODUCT) return;
  for (auto& child : op->children) TakeOutCrossed(child, conjuncts, moved);
  for (auto at = conjuncts.begin(); at != conjuncts.end(); ++at) {
    if ((*at)->GetExpressionType() != duckdb::ExpressionType::COMPARE_EQUAL) continue;
    const auto& equal = (*at)->Cast<duckdb::BoundComparisonExpression>();
    size_t search_side = 0;
    if (!IsSelfPair(*op, *equal.left, *equal.right, search_side)) continue;
    TakeOut(op, search_side, moved);
    conjuncts.erase(at);
    return;
  }
}

void TakeOutAll(duckdb::unique_ptr<LogicalOperator>& op, std::vector<Moved>& moved) {
  for (auto& child : op->children) TakeOutAll(child, moved);
  size_t search_side = 0;
  if (IsSelfJoin(*op, search_side)) TakeOut(op, search_side, moved);
  if (op->type != LogicalOperatorType::LOGICAL_FILTER) return;
  duckdb::LogicalFilter::SplitPredicates(op->expressions);
  TakeOutCrossed(op->children[0], op->expressions, moved);
  if (op->expressions.empty()) {
    duckdb::unique_ptr<LogicalOperator> below = std::move(op->children[0]);
    op = std::move(below);
  }
}

void Rebind(Expression& expression, const std::vector<Moved>& moved) {
  if (expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_COLUMN_REF) {
    auto& reference = expression.Cast<duckdb::BoundColumnRefExpression>();
    const auto found = std::ranges::find(moved, reference.binding, &Moved::from);
    if (found != moved.end()) reference.binding = found->to;
  }
  duckdb::ExpressionIterator::EnumerateChildren(expression,
                                                [&](Expression& child) { Rebind(child, moved); });
}

void RebindAll(LogicalOperator& op, const std::vector<Moved>& moved) {
  duckdb::LogicalOperatorVisitor::EnumerateExpressions(
      op, [&](duckdb::unique_ptr<Expression>* expression) { Rebind(**expression, moved); });
  for (auto& child : op.children) RebindAll(*child, moved);
}

/// Whether a part of the plan runs once a row of another: it refers to columns in other ways, too.
bool IsCorrelated(const LogicalOperator& op) {
  if (op.type == LogicalOperatorType::LOGICAL_DELIM_JOIN ||
      op.type == LogicalOperatorType::LOGICAL_DEPENDENT_JOIN ||
      op.type == LogicalOperatorType::LOGICAL_DELIM_GET) {
    return true;
  }
  return std::ranges::any_of(op.children, [](const auto& child) { return IsCorrelated(*child); });
}

}  // namespace

void RemoveSelfJoins(duckdb::unique_ptr<LogicalOperator>& plan) {
  if (IsCorrelated(*plan)) return;
  std::vector<Moved> moved;
  TakeOutAll(plan, moved);
  if (!moved.empty()) RebindAll(*plan, moved);
}

}  // namespace infino::sql
