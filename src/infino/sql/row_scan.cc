#include "infino/sql/row_scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb.hpp"
#include "duckdb/execution/expression_executor.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/expression/comparison_expression.hpp"
#include "duckdb/parser/expression/conjunction_expression.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/expression/function_expression.hpp"
#include "duckdb/parser/parsed_expression_iterator.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/query_node/select_node.hpp"
#include "duckdb/parser/statement/select_statement.hpp"
#include "duckdb/parser/tableref/basetableref.hpp"
#include "duckdb/parser/tableref/emptytableref.hpp"
#include "duckdb/planner/expression/bound_comparison_expression.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/expression_iterator.hpp"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/options.h"
#include "infino/query/row_selection.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/execution.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_catalog.h"
#include "infino/sql/table_source.h"
#include "infino/sql/text_patterns.h"
#include "infino/supertable/snapshot.h"

namespace infino::sql {
namespace {

using duckdb::Expression;
using duckdb::ParsedExpression;

/// What the statements here call their table.
constexpr const char* kTable = "rows";

/// For statements whose tables are preset.
class NoTables final : public TableSource {
 public:
  arrow::Result<std::vector<std::string>> Names(const StopCondition& /*stop*/) override {
    return std::vector<std::string>();
  }

  arrow::Result<PinnedTable> Pin(const std::string& name, bool /*newest*/,
                                 const StopCondition& /*stop*/) override {
    return MakeError(ErrorKind::kNotFound, "there is no table '" + name + "'");
  }
};

/// SELECT place of the superfile, place of the row, `more` FROM the table [WHERE `condition`].
duckdb::unique_ptr<duckdb::SelectStatement> Statement(
    duckdb::vector<duckdb::unique_ptr<ParsedExpression>> more,
    duckdb::unique_ptr<ParsedExpression> condition) {
  auto node = duckdb::make_uniq<duckdb::SelectNode>();
  node->select_list.push_back(duckdb::make_uniq<duckdb::ColumnRefExpression>(kFileColumn));
  node->select_list.push_back(duckdb::make_uniq<duckdb::ColumnRefExpression>(kRowColumn));
  for (auto& expression : more) node->select_list.push_back(std::move(expression));
  auto table = duckdb::make_uniq<duckdb::BaseTableRef>();
  table->catalog_name = kDatabase;
  table->schema_name = kSchema;
  table->table_name = kTable;
  node->from_table = std::move(table);
  node->where_clause = std::move(condition);
  auto statement = duckdb::make_uniq<duckdb::SelectStatement>();
  statement->node = std::move(node);
  return statement;
}

/// The rows found so far, by the place of their superfile.
class Selected {
 public:
  explicit Selected(const Snapshot& snapshot) : snapshot_(snapshot), docs_(snapshot.files.size()) {}

  /// Takes the rows of a chunk of a Statement, all or those that `selected` names.
  void Add(duckdb::DataChunk& chunk, const duckdb::SelectionVector* selected, duckdb::idx_t count) {
    duckdb::UnifiedVectorFormat files;
    duckdb::UnifiedVectorFormat rows;
    chunk.data[0].ToUnifiedFormat(chunk.size(), files);
    chunk.data[1].ToUnifiedFormat(chunk.size(), rows);
    const auto* const file_of = duckdb::UnifiedVectorFormat::GetData<uint64_t>(files);
    const auto* const row_of = duckdb::UnifiedVectorFormat::GetData<int64_t>(rows);
    for (duckdb::idx_t i = 0; i < count; ++i) {
      const duckdb::idx_t at = selected == nullptr ? i : selected->get_index(i);
      docs_[file_of[files.sel->get_index(at)]].push_back(
          static_cast<DocId>(row_of[rows.sel->get_index(at)]));
    }
  }

  [[nodiscard]] RowSelection Finish() const {
    RowSelection selection;
    for (size_t i = 0; i < docs_.size(); ++i) {
      if (docs_[i].empty()) continue;
      const SuperfileEntry& entry = *snapshot_.files[i].entry;
      selection.Set(entry.id, DocFilter::Of(static_cast<uint32_t>(entry.row_count), docs_[i]));
    }
    return selection;
  }

 private:
  const Snapshot& snapshot_;
  std::vector<std::vector<DocId>> docs_;
};

/// A statement over just some superfiles of a snapshot.
class ScanStatement {
 public:
  ScanStatement(duckdb::DatabaseInstance& database, const duckdb::TableFunction& parquet_scan,
                const QueryContext& context, std::span<const SuperfileEntry* const> entries,
                StatementThread thread)
      : state_(duckdb::make_shared_ptr<StatementState>(*context.environment, tables_, parquet_scan,
                                                       *context.stop)),
        execution_(database, state_, *context.stop, thread) {
    auto only =
        std::make_shared<std::unordered_set<const SuperfileEntry*>>(entries.begin(), entries.end());
    // The context outlives the statement, so the snapshot need not be owned.
    state_->Preset({.name = kTable,
                    .folder = *context.folder,
                    .snapshot = {std::shared_ptr<const Snapshot>(), context.snapshot},
                    .only = std::move(only)});
  }

  [[nodiscard]] Execution& execution() { return execution_; }

 private:
  NoTables tables_;
  duckdb::shared_ptr<StatementState> state_;
  Execution execution_;
};

/// Whether anything in an expression is more than a condition on one row.
bool AsksMore(const ParsedExpression& expression) {
  if (expression.HasSubquery() || expression.IsWindow() ||
      expression.GetExpressionClass() == duckdb::ExpressionClass::STAR ||
      expression.GetExpressionClass() == duckdb::ExpressionClass::PARAMETER) {
    return true;
  }
  if (expression.GetExpressionClass() == duckdb::ExpressionClass::COLUMN_REF &&
      expression.Cast<duckdb::ColumnRefExpression>().IsQualified()) {
    return true;
  }
  bool asks_more = false;
  duckdb::ParsedExpressionIterator::EnumerateChildren(
      expression, [&](const ParsedExpression& child) { asks_more = asks_more || AsksMore(child); });
  return asks_more;
}

/// The one expression of a text, or null if it is anything else.
duckdb::unique_ptr<ParsedExpression> ParseExpression(const std::string& text) {
  const auto tokens = duckdb::Parser::Tokenize(text);
  if (std::ranges::any_of(tokens, [&](const auto& token) { return text[token.start] == ';'; })) {
    return nullptr;
  }
  duckdb::Parser parser;
  parser.ParseQuery("SELECT " + text + "\n");
  if (parser.statements.size() != 1 ||
      parser.statements.front()->type != duckdb::StatementType::SELECT_STATEMENT) {
    return nullptr;
  }
  auto& query = *parser.statements.front()->Cast<duckdb::SelectStatement>().node;
  if (query.type != duckdb::QueryNodeType::SELECT_NODE || !query.modifiers.empty()) return nullptr;
  auto& node = query.Cast<duckdb::SelectNode>();
  const bool is_alone = node.select_list.size() == 1 &&
                        node.from_table->type == duckdb::TableReferenceType::EMPTY_FROM &&
                        node.where_clause == nullptr && node.having == nullptr &&
                        node.qualify == nullptr && node.sample == nullptr &&
                        node.groups.group_expressions.empty() && node.groups.grouping_sets.empty();
  if (!is_alone || node.select_list.front()->HasAlias() || AsksMore(*node.select_list.front())) {
    return nullptr;
  }
  return std::move(node.select_list.front());
}

arrow::Result<duckdb::unique_ptr<ParsedExpression>> ParsePredicate(const std::string& predicate) {
  auto expression = ParseExpression(predicate);
  if (expression == nullptr) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "it must be one boolean expression over unqualified columns, without "
                     "subqueries, windows and parameters");
  }
  return expression;
}

/// A column, a text or a call of a function on such, as SQL.
duckdb::unique_ptr<ParsedExpression> OperandAsSql(const Expression& operand,
                                                  const std::vector<SqlColumn>& columns) {
  switch (operand.GetExpressionClass()) {
    case duckdb::ExpressionClass::BOUND_REF: {
      const auto column = operand.Cast<duckdb::BoundReferenceExpression>().index;
      return duckdb::make_uniq<duckdb::ColumnRefExpression>(columns[column].name);
    }
    case duckdb::ExpressionClass::BOUND_CONSTANT:
      return duckdb::make_uniq<duckdb::ConstantExpression>(
          operand.Cast<duckdb::BoundConstantExpression>().value);
    case duckdb::ExpressionClass::BOUND_FUNCTION: {
      const auto& function = operand.Cast<duckdb::BoundFunctionExpression>();
      duckdb::vector<duckdb::unique_ptr<ParsedExpression>> arguments;
      for (const auto& child : function.children) {
        arguments.push_back(OperandAsSql(*child, columns));
        if (arguments.back() == nullptr) return nullptr;
      }
      return duckdb::make_uniq<duckdb::FunctionExpression>(function.function.name,
                                                           std::move(arguments));
    }
    default:
      return nullptr;
  }
}

/// `condition` as SQL, if it is one that lets the scan leave out rows: it compares a column with a
/// constant of a type whose values are the same in SQL, or a text with a pattern.
duckdb::unique_ptr<ParsedExpression> ToParsed(const Expression& condition,
                                              const std::vector<SqlColumn>& columns) {
  const auto is_column = [](const Expression& each) {
    return each.GetExpressionClass() == duckdb::ExpressionClass::BOUND_REF;
  };
  if (condition.GetExpressionClass() == duckdb::ExpressionClass::BOUND_FUNCTION) {
    return PatternsOf(condition, is_column).empty() ? nullptr : OperandAsSql(condition, columns);
  }
  if (condition.GetExpressionClass() != duckdb::ExpressionClass::BOUND_COMPARISON) return nullptr;
  const auto& comparison = condition.Cast<duckdb::BoundComparisonExpression>();
  if (!is_column(*comparison.left) ||
      comparison.right->GetExpressionClass() != duckdb::ExpressionClass::BOUND_CONSTANT) {
    return nullptr;
  }
  const auto& value = comparison.right->Cast<duckdb::BoundConstantExpression>().value;
  const bool is_plain = value.type().IsIntegral() || value.type() == duckdb::LogicalType::VARCHAR ||
                        value.type() == duckdb::LogicalType::DATE;
  if (!is_plain || value.IsNull()) return nullptr;
  return duckdb::make_uniq<duckdb::ComparisonExpression>(comparison.GetExpressionType(),
                                                         OperandAsSql(*comparison.left, columns),
                                                         OperandAsSql(*comparison.right, columns));
}

/// Adds what ToParsed makes of `condition`, or of the conditions of which all have to hold.
void AddParsed(const Expression& condition, const std::vector<SqlColumn>& columns,
               duckdb::unique_ptr<ParsedExpression>& pushed) {
  if (condition.GetExpressionType() == duckdb::ExpressionType::CONJUNCTION_AND) {
    for (const auto& child : condition.Cast<duckdb::BoundConjunctionExpression>().children) {
      AddParsed(*child, columns, pushed);
    }
    return;
  }
  auto parsed = ToParsed(condition, columns);
  if (parsed == nullptr) return;
  pushed = pushed == nullptr
               ? std::move(parsed)
               : duckdb::make_uniq<duckdb::ConjunctionExpression>(
                     duckdb::ExpressionType::CONJUNCTION_AND, std::move(pushed), std::move(parsed));
}

/// Numbers the columns that the conditions read as those of the statement: behind the two places.
void Renumber(Expression& expression, std::vector<size_t>& read) {
  if (expression.GetExpressionClass() == duckdb::ExpressionClass::BOUND_REF) {
    auto& reference = expression.Cast<duckdb::BoundReferenceExpression>();
    auto at = std::ranges::find(read, reference.index);
    if (at == read.end()) at = read.insert(at, reference.index);
    reference.index = 2 + static_cast<duckdb::idx_t>(at - read.begin());
  }
  duckdb::ExpressionIterator::EnumerateChildren(expression,
                                                [&](Expression& child) { Renumber(child, read); });
}

}  // namespace

arrow::Result<RowSelection> RowScan::Select(const std::string& predicate) const {
  ARROW_ASSIGN_OR_RAISE(auto condition, ParsePredicate(predicate));
  if (condition->GetExpressionClass() == duckdb::ExpressionClass::CONSTANT &&
      condition->Cast<duckdb::ConstantExpression>().value.IsNull()) {
    return RowSelection();
  }
  ScanStatement scan(database_, parquet_scan_, context_, entries_, thread_);
  // The condition is a column, too: so its type is seen.
  duckdb::vector<duckdb::unique_ptr<ParsedExpression>> columns;
  columns.push_back(condition->Copy());
  ARROW_RETURN_NOT_OK(scan.execution().Run(*Statement(std::move(columns), std::move(condition))));
  duckdb::QueryResult& result = scan.execution().result();
  if (result.types[2].id() != duckdb::LogicalTypeId::BOOLEAN) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "it must be boolean, not " + result.types[2].ToString());
  }
  Selected selected(*context_.snapshot);
  while (auto chunk = result.Fetch()) selected.Add(*chunk, nullptr, chunk->size());
  return selected.Finish();
}

arrow::Result<RowSelection> RowScan::Select(
    const duckdb::vector<duckdb::unique_ptr<Expression>>& conditions,
    const std::vector<SqlColumn>& columns) const {
  duckdb::unique_ptr<ParsedExpression> pushed;
  duckdb::vector<duckdb::unique_ptr<Expression>> checks;
  std::vector<size_t> read;
  for (const auto& condition : conditions) {
    AddParsed(*condition, columns, pushed);
    checks.push_back(condition->Copy());
    Renumber(*checks.back(), read);
  }
  duckdb::vector<duckdb::unique_ptr<ParsedExpression>> more;
  for (const size_t column : read) {
    more.push_back(duckdb::make_uniq<duckdb::ColumnRefExpression>(columns[column].name));
  }
  ScanStatement scan(database_, parquet_scan_, context_, entries_, thread_);
  ARROW_RETURN_NOT_OK(scan.execution().Run(*Statement(std::move(more), std::move(pushed))));
  duckdb::QueryResult& result = scan.execution().result();
  Selected selected(*context_.snapshot);
  duckdb::ExpressionExecutor executor(scan.execution().context());
  for (const auto& check : checks) executor.AddExpression(*check);
  duckdb::DataChunk outcomes;
  outcomes.Initialize(scan.execution().context(), duckdb::vector<duckdb::LogicalType>(
                                                      checks.size(), duckdb::LogicalType::BOOLEAN));
  duckdb::SelectionVector passing(STANDARD_VECTOR_SIZE);
  while (auto chunk = result.Fetch()) {
    outcomes.Reset();
    executor.Execute(*chunk, outcomes);
    outcomes.Flatten();
    duckdb::idx_t count = 0;
    for (duckdb::idx_t row = 0; row < chunk->size(); ++row) {
      const bool passes = std::ranges::all_of(outcomes.data, [&](const duckdb::Vector& outcome) {
        return duckdb::FlatVector::Validity(outcome).RowIsValid(row) &&
               duckdb::FlatVector::GetData<bool>(outcome)[row];
      });
      passing.set_index(count, row);
      count += passes ? 1 : 0;
    }
    selected.Add(*chunk, &passing, count);
  }
  return selected.Finish();
}

}  // namespace infino::sql
