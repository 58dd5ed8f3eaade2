#include "infino/sql/value_counts_rule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/common/enums/expression_type.hpp"
#include "duckdb/common/enums/logical_operator_type.hpp"
#include "duckdb/function/function_binder.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/column_binding.hpp"
#include "duckdb/planner/expression/bound_aggregate_expression.hpp"
#include "duckdb/planner/expression/bound_case_expression.hpp"
#include "duckdb/planner/expression/bound_columnref_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_operator_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "duckdb/planner/logical_operator.hpp"
#include "duckdb/planner/logical_operator_visitor.hpp"
#include "duckdb/planner/operator/logical_aggregate.hpp"
#include "duckdb/planner/operator/logical_distinct.hpp"
#include "duckdb/planner/operator/logical_filter.hpp"
#include "duckdb/planner/operator/logical_get.hpp"
#include "duckdb/planner/operator/logical_projection.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/statistics/numeric_stats.hpp"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/value_counts.h"
#include "infino/sql/counted_values.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/plain_value.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_scan.h"

namespace infino::sql {
namespace {

using duckdb::BoundAggregateExpression;
using duckdb::BoundColumnRefExpression;
using duckdb::ColumnBinding;
using duckdb::Expression;
using duckdb::ExpressionClass;
using duckdb::LogicalGet;
using duckdb::LogicalOperator;
using duckdb::LogicalOperatorType;
using duckdb::LogicalProjection;
using ExpressionPtr = duckdb::unique_ptr<Expression>;

/// Columns of the operator below that are read, by number of the operator and place.
using Columns = std::set<std::pair<duckdb::idx_t, duckdb::idx_t>>;

/// Adds what an expression reads. False if it is not a matter of the row alone.
bool Read(const Expression& expression, Columns& columns) {
  switch (expression.GetExpressionClass()) {
    case ExpressionClass::BOUND_COLUMN_REF: {
      const auto& reference = expression.Cast<BoundColumnRefExpression>();
      columns.emplace(reference.binding.table_index, reference.binding.column_index);
      return reference.depth == 0;
    }
    case ExpressionClass::BOUND_SUBQUERY:
    case ExpressionClass::BOUND_WINDOW:
    case ExpressionClass::BOUND_UNNEST:
    case ExpressionClass::BOUND_EXPANDED:
      return false;
    default:
      break;
  }
  bool is_plain = !expression.IsVolatile();
  duckdb::ExpressionIterator::EnumerateChildren(
      expression, [&](const Expression& child) { is_plain = is_plain && Read(child, columns); });
  return is_plain;
}

/// Puts the counted values in the place of one scan.
class Replacement {
 public:
  Replacement(duckdb::ClientContext& context, LogicalOperator& top)
      : context_(context), top_(top) {}

  /// Finds the scan below, and the one column that is read of it. `columns` are those that `top`
  /// reads.
  [[nodiscard]] bool Find(Columns columns) {
    slot_ = &top_.children[0];
    for (; (*slot_)->type != LogicalOperatorType::LOGICAL_GET; slot_ = &(*slot_)->children[0]) {
      LogicalOperator& op = **slot_;
      if (op.type == LogicalOperatorType::LOGICAL_FILTER) {
        if (op.Cast<duckdb::LogicalFilter>().HasProjectionMap()) return false;
        for (const auto& expression : op.expressions) {
          if (!Read(*expression, columns)) return false;
        }
      } else if (op.type == LogicalOperatorType::LOGICAL_PROJECTION) {
        Columns below;
        const auto table_index = op.Cast<LogicalProjection>().table_index;
        for (const auto& [table, place] : columns) {
          if (table != table_index || place >= op.expressions.size()) return false;
          if (!Read(*op.expressions[place], below)) return false;
        }
        columns = std::move(below);
      } else {
        return false;
      }
      steps_.push_back(&op);
    }
    return FindColumn(columns);
  }

  /// Whether an operator in between gives its columns numbers of its own.
  [[nodiscard]] bool HasProjection() const {
    return std::ranges::any_of(steps_, [](const LogicalOperator* op) {
      return op->type == LogicalOperatorType::LOGICAL_PROJECTION;
    });
  }

  [[nodiscard]] bool HasFilter() const {
    return std::ranges::any_of(steps_, [](const LogicalOperator* op) {
      return op->type == LogicalOperatorType::LOGICAL_FILTER;
    });
  }

  /// Whether bounds and null counts tell, without any read, how many values there are (`counts`)
  /// and the least and the greatest one (`bounds`).
  [[nodiscard]] bool IsInEntries(bool counts, bool bounds) const {
    const auto& bound = *(*slot_)->Cast<LogicalGet>().bind_data;
    const SuperfileList& files = ScannedFiles(bound);
    const auto& columns = ScannedColumns(bound);
    const auto statistics =
        StatisticsOfAll(files, columns, static_cast<size_t>(column_ - columns.data()));
    if (statistics == nullptr) return true;
    if (counts && statistics->CanHaveNull()) return false;
    return !bounds || (statistics->GetStatsType() == duckdb::StatisticsType::NUMERIC_STATS &&
                       duckdb::NumericStats::HasMinMax(*statistics) &&
                       std::ranges::none_of(files.entries(), [](const SuperfileEntry* entry) {
                         return entry->tombstones.has_value();
                       }));
  }

  /// Puts them there. With `counts` the operators in between hand them up; returned is where `top`
  /// has them from.
  ColumnBinding Apply(bool counts) {
    const auto& scan = (*slot_)->Cast<LogicalGet>();
    index_ = scan.table_index;
    CountedValues values = BindCountedValues(ScannedFiles(*scan.bind_data).table(), *column_);
    auto get = duckdb::make_uniq<LogicalGet>(
        index_, std::move(values.function), std::move(values.bound),
        duckdb::vector<duckdb::LogicalType>{column_->type, duckdb::LogicalType::BIGINT},
        duckdb::vector<duckdb::string>{column_->name, "count"});
    get->AddColumnId(kValuePlace);
    if (counts) get->AddColumnId(kCountPlace);
    ColumnBinding count(index_, kCountPlace);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      LogicalOperator& op = **step;
      for (auto& expression : op.expressions) Rebind(expression);
      if (!counts || op.type != LogicalOperatorType::LOGICAL_PROJECTION) continue;
      op.expressions.push_back(
          duckdb::make_uniq<BoundColumnRefExpression>(duckdb::LogicalType::BIGINT, count));
      count = ColumnBinding(op.Cast<LogicalProjection>().table_index, op.expressions.size() - 1);
    }
    duckdb::LogicalOperatorVisitor::EnumerateExpressions(
        top_, [&](ExpressionPtr* expression) { Rebind(*expression); });
    *slot_ = std::move(get);
    return count;
  }

 private:
  [[nodiscard]] bool FindColumn(const Columns& columns) {
    auto& get = (*slot_)->Cast<LogicalGet>();
    if (!IsTableScan(get.function) || !get.children.empty() || !get.table_filters.filters.empty() ||
        !get.projection_ids.empty() || get.ordinality_idx.IsValid() ||
        get.extra_info.sample_options != nullptr || columns.empty()) {
      return false;
    }
    const auto& known = ScannedColumns(*get.bind_data);
    std::optional<duckdb::idx_t> only;
    for (const auto& [table, place] : columns) {
      if (table != get.table_index || place >= get.GetColumnIds().size()) return false;
      const duckdb::ColumnIndex& column = get.GetColumnIds()[place];
      if (column.HasChildren() || column.GetPrimaryIndex() >= known.size()) return false;
      if (only && *only != column.GetPrimaryIndex()) return false;
      only = column.GetPrimaryIndex();
      places_.insert(place);
    }
    column_ = &known[*only];
    const PinnedTable& table = ScannedFiles(*get.bind_data).table();
    const auto* const declared = table.snapshot->root.schema.FindById(column_->field_id);
    return StatementState::Of(context_).environment().value_counts != nullptr &&
           table.only == nullptr && declared != nullptr && HasPlainValues(*column_) &&
           CanCountValues(*table.snapshot, *declared);
  }

  /// Refers to the values. What a projection has of other columns, which nobody reads, is null.
  void Rebind(ExpressionPtr& expression) const {
    Columns columns;
    static_cast<void>(Read(*expression, columns));
    const bool reads_other = std::ranges::any_of(columns, [&](const auto& column) {
      return column.first == index_ && !places_.contains(column.second);
    });
    if (reads_other) {
      const duckdb::string alias = expression->GetAlias();
      expression = duckdb::make_uniq<duckdb::BoundConstantExpression>(
          duckdb::Value(expression->return_type));
      expression->SetAlias(alias);
    } else {
      RebindAll(*expression);
    }
  }

  void RebindAll(Expression& expression) const {
    if (expression.GetExpressionClass() == ExpressionClass::BOUND_COLUMN_REF) {
      auto& binding = expression.Cast<BoundColumnRefExpression>().binding;
      if (binding.table_index == index_) binding.column_index = kValuePlace;
    }
    duckdb::ExpressionIterator::EnumerateChildren(expression,
                                                  [&](Expression& child) { RebindAll(child); });
  }

  duckdb::ClientContext& context_;
  LogicalOperator& top_;
  duckdb::unique_ptr<LogicalOperator>* slot_ = nullptr;  // of the scan
  std::vector<LogicalOperator*> steps_;                  // from `top_` down to the scan
  std::set<duckdb::idx_t> places_;                       // of the column in the scan
  const SqlColumn* column_ = nullptr;
  duckdb::idx_t index_ = 0;  // of the scan among the operators
};

/// What an aggregate becomes over values with their counts.
enum class Counted : uint8_t { kSame, kSum, kImpossible };

Counted KindOf(const Expression& expression) {
  if (expression.GetExpressionClass() != ExpressionClass::BOUND_AGGREGATE) {
    return Counted::kImpossible;
  }
  const auto& aggregate = expression.Cast<BoundAggregateExpression>();
  const duckdb::string& name = aggregate.function.name;
  if (aggregate.order_bys != nullptr) return Counted::kImpossible;
  if (name == "count_star") return Counted::kSum;
  if (aggregate.children.size() != 1) return Counted::kImpossible;
  if (name == "count") return aggregate.IsDistinct() ? Counted::kSame : Counted::kSum;
  return name == "min" || name == "max" ? Counted::kSame : Counted::kImpossible;
}

/// The sum of counts in place of `aggregate`; of `count` of an expression, where that is not null.
ExpressionPtr SumFor(duckdb::ClientContext& context, BoundAggregateExpression& aggregate,
                     const ColumnBinding& count) {
  ExpressionPtr summed =
      duckdb::make_uniq<BoundColumnRefExpression>("count", duckdb::LogicalType::BIGINT, count);
  if (!aggregate.children.empty()) {
    auto is_there = duckdb::make_uniq<duckdb::BoundOperatorExpression>(
        duckdb::ExpressionType::OPERATOR_IS_NOT_NULL, duckdb::LogicalType::BOOLEAN);
    is_there->children.push_back(std::move(aggregate.children[0]));
    summed = duckdb::make_uniq<duckdb::BoundCaseExpression>(
        std::move(is_there), std::move(summed),
        duckdb::make_uniq<duckdb::BoundConstantExpression>(
            duckdb::Value(duckdb::LogicalType::BIGINT)));
  }
  duckdb::vector<ExpressionPtr> children;
  children.push_back(std::move(summed));
  ExpressionPtr sum = duckdb::FunctionBinder(context).BindAggregateFunction(
      SumOfCounts(), std::move(children), std::move(aggregate.filter));
  sum->SetAlias(aggregate.GetAlias());
  return sum;
}

/// Whether DuckDB has the answer from the statistics of the scan, which are in memory.
bool IsInStatistics(const duckdb::LogicalAggregate& op, const Replacement& replacement) {
  if (!op.groups.empty() || replacement.HasFilter()) return false;
  bool counts = false;
  bool bounds = false;
  for (const auto& expression : op.expressions) {
    const auto& aggregate = expression->Cast<BoundAggregateExpression>();
    if (aggregate.IsDistinct() || aggregate.filter != nullptr) return false;
    if (aggregate.children.empty()) continue;
    if (aggregate.children[0]->GetExpressionClass() != ExpressionClass::BOUND_COLUMN_REF) {
      return false;
    }
    (aggregate.function.name == "count" ? counts : bounds) = true;
  }
  return replacement.IsInEntries(counts, bounds);
}

bool ReplaceAggregate(duckdb::ClientContext& context, duckdb::LogicalAggregate& op) {
  Columns columns;
  bool fits = true;
  duckdb::LogicalOperatorVisitor::EnumerateExpressions(
      op, [&](ExpressionPtr* expression) { fits = fits && Read(**expression, columns); });
  std::vector<Counted> kinds;
  for (const auto& expression : op.expressions) kinds.push_back(KindOf(*expression));
  Replacement replacement(context, op);
  if (!fits || std::ranges::count(kinds, Counted::kImpossible) > 0 ||
      !replacement.Find(std::move(columns)) || IsInStatistics(op, replacement)) {
    return false;
  }
  const ColumnBinding count = replacement.Apply(std::ranges::count(kinds, Counted::kSum) > 0);
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != Counted::kSum) continue;
    op.expressions[i] = SumFor(context, op.expressions[i]->Cast<BoundAggregateExpression>(), count);
  }
  return true;
}

bool ReplaceDistinct(duckdb::ClientContext& context, duckdb::LogicalDistinct& op) {
  if (op.distinct_type != duckdb::DistinctType::DISTINCT || op.order_by != nullptr) return false;
  Columns columns;
  for (const ColumnBinding& binding : op.children[0]->GetColumnBindings()) {
    columns.emplace(binding.table_index, binding.column_index);
  }
  Replacement replacement(context, op);
  if (!replacement.Find(std::move(columns)) || !replacement.HasProjection()) return false;
  replacement.Apply(/*counts=*/false);
  return true;
}

bool Replace(duckdb::ClientContext& context, LogicalOperator& op) {
  switch (op.type) {
    case LogicalOperatorType::LOGICAL_AGGREGATE_AND_GROUP_BY:
      if (ReplaceAggregate(context, op.Cast<duckdb::LogicalAggregate>())) return true;
      break;
    case LogicalOperatorType::LOGICAL_DISTINCT:
      if (ReplaceDistinct(context, op.Cast<duckdb::LogicalDistinct>())) return true;
      break;
    default:
      break;
  }
  bool is_replaced = false;
  for (auto& child : op.children) is_replaced = Replace(context, *child) || is_replaced;
  return is_replaced;
}

}  // namespace

void UseValueCounts(duckdb::ClientContext& context, LogicalOperator& plan) {
  if (Replace(context, plan)) plan.ResolveOperatorTypes();
}

}  // namespace infino::sql
