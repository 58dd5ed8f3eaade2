#include "infino/sql/text_patterns.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "duckdb/common/string_util.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/planner/expression/bound_conjunction_expression.hpp"
#include "duckdb/planner/expression/bound_constant_expression.hpp"
#include "duckdb/planner/expression/bound_function_expression.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/constant_filter.hpp"
#include "duckdb/planner/filter/expression_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "infino/index/text/text_pattern.h"

namespace infino::sql {
namespace {

using duckdb::Expression;
using duckdb::ExpressionType;
using duckdb::TableFilterType;
using text::TextPattern;

enum class Form { kLike, kContains, kPrefix, kSuffix };

/// A function that compares a text with a pattern.
struct PatternFunction {
  std::string_view name;
  Form form = Form::kLike;
  bool any_case = false;
  bool has_escape = false;
};

constexpr std::array<PatternFunction, 10> kFunctions{{
    {.name = "~~"},
    {.name = "~~*", .any_case = true},
    {.name = "like_escape", .has_escape = true},
    {.name = "ilike_escape", .any_case = true, .has_escape = true},
    {.name = "contains", .form = Form::kContains},
    {.name = "prefix", .form = Form::kPrefix},
    {.name = "starts_with", .form = Form::kPrefix},
    {.name = "^@", .form = Form::kPrefix},
    {.name = "suffix", .form = Form::kSuffix},
    {.name = "ends_with", .form = Form::kSuffix},
}};

/// The text of a constant.
std::optional<std::string> TextOf(const Expression& expression) {
  if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_CONSTANT) {
    return std::nullopt;
  }
  const auto& value = expression.Cast<duckdb::BoundConstantExpression>().value;
  if (value.IsNull() || value.type().id() != duckdb::LogicalTypeId::VARCHAR) return std::nullopt;
  return duckdb::StringValue::Get(value);
}

/// The pieces of a LIKE pattern; nothing if it is malformed. Without ESCAPE, DuckDB takes the zero
/// byte for the sign.
std::optional<TextPattern> Cut(std::string_view like, char escape) {
  TextPattern pattern{.pieces = {""}, .at_start = true, .at_end = true};
  for (size_t i = 0; i < like.size(); ++i) {
    if (like[i] == escape) {
      if (++i == like.size()) return std::nullopt;
    } else if (like[i] == '%' || like[i] == '_') {
      pattern.pieces.emplace_back();
      continue;
    }
    pattern.pieces.back() += like[i];
  }
  pattern.at_start = !pattern.pieces.front().empty();
  pattern.at_end = !pattern.pieces.back().empty();
  std::erase(pattern.pieces, "");
  return pattern;
}

std::optional<TextPattern> PatternOf(const PatternFunction& function, const std::string& text,
                                     char escape) {
  switch (function.form) {
    case Form::kLike:
      return Cut(text, escape);
    case Form::kContains:
      return TextPattern{.pieces = {text}};
    case Form::kPrefix:
      return TextPattern{.pieces = {text}, .at_start = true};
    case Form::kSuffix:
      return TextPattern{.pieces = {text}, .at_end = true};
  }
  return std::nullopt;
}

bool IsLowerOf(const Expression& expression,
               const std::function<bool(const Expression&)>& is_column) {
  if (expression.GetExpressionClass() != duckdb::ExpressionClass::BOUND_FUNCTION) return false;
  const auto& function = expression.Cast<duckdb::BoundFunctionExpression>();
  return (function.function.name == "lower" || function.function.name == "lcase") &&
         function.children.size() == 1 && is_column(*function.children[0]);
}

/// The pattern of a call of one of kFunctions on the column.
std::optional<TextPattern> PatternOfCall(const duckdb::BoundFunctionExpression& call,
                                         const std::function<bool(const Expression&)>& is_column) {
  const auto* const function =
      std::ranges::find(kFunctions, std::string_view(call.function.name), &PatternFunction::name);
  if (function == kFunctions.end()) return std::nullopt;
  if (call.children.size() != (function->has_escape ? 3 : 2) ||
      call.children[0]->return_type.id() != duckdb::LogicalTypeId::VARCHAR) {
    return std::nullopt;
  }
  const bool is_lowered = IsLowerOf(*call.children[0], is_column);
  if (!is_lowered && !is_column(*call.children[0])) return std::nullopt;
  const std::optional<std::string> text = TextOf(*call.children[1]);
  if (!text.has_value()) return std::nullopt;
  char escape = '\0';
  if (function->has_escape) {
    const std::optional<std::string> sign = TextOf(*call.children[2]);
    if (!sign.has_value() || sign->size() > 1) return std::nullopt;
    if (!sign->empty()) escape = sign->front();
    // A pattern without regard to case is lower-cased before signs are looked for in it.
    if (function->any_case && duckdb::StringUtil::CharacterIsAlpha(escape)) return std::nullopt;
  }
  std::optional<TextPattern> pattern = PatternOf(*function, *text, escape);
  if (pattern.has_value()) pattern->any_case = function->any_case || is_lowered;
  return pattern;
}

void Append(std::vector<TextPattern> more, std::vector<TextPattern>& patterns) {
  std::ranges::move(more, std::back_inserter(patterns));
}

/// How all texts from `least` to before `end` begin.
std::string SharedBeginning(const std::string& least, const std::string& end) {
  const auto [in_least, in_end] = std::ranges::mismatch(least, end);
  auto shared = static_cast<size_t>(in_least - least.begin());
  const bool ends_next = in_least != least.end() && in_end != end.end() &&
                         in_end + 1 == end.end() && *in_end == *in_least + 1;
  if (ends_next) ++shared;
  return least.substr(0, shared);
}

/// The text of a comparison with a text.
std::optional<std::string> ComparedText(const duckdb::TableFilter& filter, ExpressionType type) {
  if (filter.filter_type != TableFilterType::CONSTANT_COMPARISON) return std::nullopt;
  const auto& comparison = filter.Cast<duckdb::ConstantFilter>();
  if (comparison.comparison_type != type || comparison.constant.IsNull() ||
      comparison.constant.type().id() != duckdb::LogicalTypeId::VARCHAR) {
    return std::nullopt;
  }
  return duckdb::StringValue::Get(comparison.constant);
}

}  // namespace

std::vector<TextPattern> PatternsOf(const Expression& condition,
                                    const std::function<bool(const Expression&)>& is_column) {
  std::vector<TextPattern> patterns;
  if (condition.GetExpressionType() == ExpressionType::CONJUNCTION_AND) {
    for (const auto& child : condition.Cast<duckdb::BoundConjunctionExpression>().children) {
      Append(PatternsOf(*child, is_column), patterns);
    }
  } else if (condition.GetExpressionClass() == duckdb::ExpressionClass::BOUND_FUNCTION) {
    auto pattern = PatternOfCall(condition.Cast<duckdb::BoundFunctionExpression>(), is_column);
    if (pattern.has_value()) patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

std::vector<TextPattern> PatternsOf(const duckdb::TableFilter& filter) {
  std::vector<TextPattern> patterns;
  if (const auto equal = ComparedText(filter, ExpressionType::COMPARE_EQUAL)) {
    patterns.push_back({.pieces = {*equal}, .at_start = true, .at_end = true});
  } else if (filter.filter_type == TableFilterType::OPTIONAL_FILTER) {
    const auto& child = filter.Cast<duckdb::OptionalFilter>().child_filter;
    if (child != nullptr) patterns = PatternsOf(*child);
  } else if (filter.filter_type == TableFilterType::EXPRESSION_FILTER) {
    patterns =
        PatternsOf(*filter.Cast<duckdb::ExpressionFilter>().expr, [](const Expression& each) {
          return each.GetExpressionClass() == duckdb::ExpressionClass::BOUND_REF;
        });
  } else if (filter.filter_type == TableFilterType::CONJUNCTION_AND) {
    std::optional<std::string> least;
    std::optional<std::string> end;
    for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
      Append(PatternsOf(*child), patterns);
      if (auto bound = ComparedText(*child, ExpressionType::COMPARE_GREATERTHANOREQUALTO)) {
        least = std::move(bound);
      }
      if (auto bound = ComparedText(*child, ExpressionType::COMPARE_LESSTHAN)) {
        end = std::move(bound);
      }
    }
    if (least.has_value() && end.has_value()) {
      patterns.push_back({.pieces = {SharedBeginning(*least, *end)}, .at_start = true});
    }
  }
  return patterns;
}

}  // namespace infino::sql
