#include "infino/sql/search_arguments.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/named_parameter_map.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/common/types/value.hpp"
#include "infino/error.h"
#include "infino/search.h"

namespace infino::sql {
namespace {

using duckdb::LogicalType;
using duckdb::Value;
using Values = duckdb::vector<Value>;
using Named = duckdb::named_parameter_map_t;

arrow::Status Wrong(const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument, what);
}

arrow::Result<std::string> TextOf(const Value& value, const char* what) {
  if (value.IsNull()) return Wrong(std::string(what) + " must not be NULL");
  return value.GetValue<std::string>();
}

arrow::Result<uint64_t> CountOf(const Value& value, const char* what) {
  if (value.IsNull()) return Wrong(std::string(what) + " must not be NULL");
  const auto count = value.GetValue<int64_t>();
  if (count < 0) {
    return Wrong(std::string(what) + " must not be negative; got " + std::to_string(count));
  }
  return static_cast<uint64_t>(count);
}

arrow::Result<MatchMode> ModeOf(const Value& value) {
  if (value.IsNull()) return MatchMode::kOr;
  const std::string mode = duckdb::StringUtil::Lower(value.ToString());
  if (mode == "or") return MatchMode::kOr;
  if (mode == "and") return MatchMode::kAnd;
  return Wrong("mode must be 'or' or 'and'; got '" + value.ToString() + "'");
}

/// A vector written as '0.1, 0.2' or '[0.1, 0.2]', or a list or array of numbers.
arrow::Result<std::vector<float>> VectorOf(const Value& value) {
  if (value.IsNull()) return Wrong("the query vector must not be NULL");
  Value list = value;
  if (value.type().id() == duckdb::LogicalTypeId::VARCHAR) {
    std::string text = value.ToString();
    duckdb::StringUtil::Trim(text);
    list = Value(text.starts_with('[') ? text : "[" + text + "]");
  }
  Value numbers;
  std::string error;
  if (!list.DefaultTryCastAs(LogicalType::LIST(LogicalType::DOUBLE), numbers, &error)) {
    return Wrong("a query vector is numbers, as in '0.1,0.2', '[0.1,0.2]' or [0.1, 0.2]; got " +
                 value.ToString().substr(0, 60));
  }
  std::vector<float> vector;
  for (const Value& number : duckdb::ListValue::GetChildren(numbers)) {
    if (number.IsNull()) return Wrong("a query vector has no NULL among its numbers");
    vector.push_back(static_cast<float>(number.GetValue<double>()));
  }
  return vector;
}

/// The value of a named argument, unless it is absent or NULL.
std::optional<Value> Find(const Named& named, const char* name) {
  const auto found = named.find(name);
  if (found == named.end() || found->second.IsNull()) return std::nullopt;
  return found->second;
}

arrow::Status TakeMode(const Named& named, bool is_given, MatchMode& mode) {
  if (const auto value = Find(named, "mode")) {
    if (is_given) return Wrong("mode is given twice");
    ARROW_ASSIGN_OR_RAISE(mode, ModeOf(*value));
  }
  return arrow::Status::OK();
}

arrow::Status TakeFilter(const Named& named, std::optional<TextFilter>& filter) {
  const auto column = Find(named, "filter_column");
  const auto query = Find(named, "filter_query");
  const auto mode = Find(named, "filter_mode");
  if (!column && !query && !mode) return arrow::Status::OK();
  if (!column || !query) return Wrong("a filter needs filter_column and filter_query");
  filter = TextFilter{.column = column->ToString(), .query = query->ToString()};
  if (mode) {
    ARROW_ASSIGN_OR_RAISE(filter->mode, ModeOf(*mode));
  }
  return arrow::Status::OK();
}

arrow::Status TakeEffort(const Named& named, VectorEffort& effort) {
  if (const auto recall = Find(named, "target_recall")) {
    effort.target_recall = recall->GetValue<double>();
  }
  if (const auto nprobe = Find(named, "nprobe")) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t count, CountOf(*nprobe, "nprobe"));
    effort.nprobe = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
  }
  return arrow::Status::OK();
}

arrow::Result<SearchRequest> Ranked(const Values& arguments, const Named& named, bool is_prefix) {
  TextSearchRequest request;
  ARROW_ASSIGN_OR_RAISE(request.column, TextOf(arguments[1], "the column"));
  ARROW_ASSIGN_OR_RAISE(request.query, TextOf(arguments[2], "the query"));
  ARROW_ASSIGN_OR_RAISE(request.k, CountOf(arguments[3], "k"));
  request.is_prefix = is_prefix;
  if (arguments.size() > 4) {
    ARROW_ASSIGN_OR_RAISE(request.mode, ModeOf(arguments[4]));
  }
  ARROW_RETURN_NOT_OK(TakeMode(named, arguments.size() > 4, request.mode));
  if (const auto k1 = Find(named, "k1")) request.k1 = k1->GetValue<double>();
  if (const auto b = Find(named, "b")) request.b = b->GetValue<double>();
  return request;
}

arrow::Result<SearchRequest> Bm25(const Values& arguments, const Named& named) {
  return Ranked(arguments, named, false);
}

arrow::Result<SearchRequest> Bm25Prefix(const Values& arguments, const Named& named) {
  return Ranked(arguments, named, true);
}

arrow::Result<SearchRequest> Tokens(const Values& arguments, const Named& named) {
  MatchRequest request;
  ARROW_ASSIGN_OR_RAISE(request.column, TextOf(arguments[1], "the column"));
  ARROW_ASSIGN_OR_RAISE(request.query, TextOf(arguments[2], "the query"));
  if (arguments.size() > 3) {
    ARROW_ASSIGN_OR_RAISE(request.mode, ModeOf(arguments[3]));
  }
  ARROW_RETURN_NOT_OK(TakeMode(named, arguments.size() > 3, request.mode));
  return request;
}

arrow::Result<SearchRequest> Exact(const Values& arguments, const Named& /*named*/) {
  ExactMatchRequest request;
  ARROW_ASSIGN_OR_RAISE(request.column, TextOf(arguments[1], "the column"));
  ARROW_ASSIGN_OR_RAISE(request.value, TextOf(arguments[2], "the value"));
  return request;
}

arrow::Result<SearchRequest> Vectors(const Values& arguments, const Named& named) {
  VectorSearchRequest request;
  ARROW_ASSIGN_OR_RAISE(request.column, TextOf(arguments[1], "the column"));
  ARROW_ASSIGN_OR_RAISE(std::vector<float> query, VectorOf(arguments[2]));
  request.queries.push_back(std::move(query));
  ARROW_ASSIGN_OR_RAISE(request.k, CountOf(arguments[3], "k"));
  ARROW_RETURN_NOT_OK(TakeFilter(named, request.filter));
  ARROW_RETURN_NOT_OK(TakeEffort(named, request.effort));
  return request;
}

arrow::Result<SearchRequest> Hybrid(const Values& arguments, const Named& named) {
  HybridSearchRequest request;
  ARROW_ASSIGN_OR_RAISE(request.text_column, TextOf(arguments[1], "the text column"));
  ARROW_ASSIGN_OR_RAISE(request.text, TextOf(arguments[2], "the query"));
  ARROW_ASSIGN_OR_RAISE(request.vector_column, TextOf(arguments[3], "the vector column"));
  ARROW_ASSIGN_OR_RAISE(request.vector, VectorOf(arguments[4]));
  ARROW_ASSIGN_OR_RAISE(request.k, CountOf(arguments[5], "k"));
  ARROW_RETURN_NOT_OK(TakeMode(named, false, request.mode));
  if (const auto depth = Find(named, "depth")) {
    ARROW_ASSIGN_OR_RAISE(request.depth, CountOf(*depth, "depth"));
  }
  if (const auto weight = Find(named, "text_weight")) {
    request.text_weight = weight->GetValue<double>();
  }
  if (const auto weight = Find(named, "vector_weight")) {
    request.vector_weight = weight->GetValue<double>();
  }
  ARROW_RETURN_NOT_OK(TakeFilter(named, request.filter));
  ARROW_RETURN_NOT_OK(TakeEffort(named, request.effort));
  return request;
}

}  // namespace

std::vector<SearchForm> SearchForms() {
  const LogicalType text = LogicalType::VARCHAR;
  const LogicalType count = LogicalType::BIGINT;
  const LogicalType any = LogicalType::ANY;
  const duckdb::named_parameter_type_map_t mode = {{"mode", text}};
  const duckdb::named_parameter_type_map_t ranked = {
      {"mode", text}, {"k1", LogicalType::DOUBLE}, {"b", LogicalType::DOUBLE}};
  const duckdb::named_parameter_type_map_t prefix = {{"k1", LogicalType::DOUBLE},
                                                     {"b", LogicalType::DOUBLE}};
  const duckdb::named_parameter_type_map_t vectors = {{"filter_column", text},
                                                      {"filter_query", text},
                                                      {"filter_mode", text},
                                                      {"target_recall", LogicalType::DOUBLE},
                                                      {"nprobe", count}};
  duckdb::named_parameter_type_map_t hybrid = vectors;
  hybrid["mode"] = text;
  hybrid["depth"] = count;
  hybrid["text_weight"] = LogicalType::DOUBLE;
  hybrid["vector_weight"] = LogicalType::DOUBLE;
  return {{"bm25_search", {text, text, text, count}, ranked, Bm25},
          {"bm25_search", {text, text, text, count, text}, ranked, Bm25},
          {"bm25_search_prefix", {text, text, text, count}, prefix, Bm25Prefix},
          {"token_match", {text, text, text}, mode, Tokens},
          {"token_match", {text, text, text, text}, mode, Tokens},
          {"exact_match", {text, text, text}, {}, Exact},
          {"vector_search", {text, text, any, count}, vectors, Vectors},
          {"hybrid_search", {text, text, text, text, any, count}, hybrid, Hybrid}};
}

}  // namespace infino::sql
