#pragma once

#include <string>
#include <variant>
#include <vector>

#include <arrow/result.h>

#include "duckdb/common/named_parameter_map.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/function/table_function.hpp"
#include "infino/search.h"

namespace infino::sql {

/// What a call of a search function asks for.
using SearchRequest = std::variant<TextSearchRequest, MatchRequest, ExactMatchRequest,
                                   VectorSearchRequest, HybridSearchRequest>;

/// One form of a search function: its name, the types of its arguments, and how they become a
/// request. The first argument is the name of the table.
struct SearchForm {
  const char* name = "";
  duckdb::vector<duckdb::LogicalType> arguments;
  duckdb::named_parameter_type_map_t named;
  arrow::Result<SearchRequest> (*request)(const duckdb::vector<duckdb::Value>& arguments,
                                          const duckdb::named_parameter_map_t& named) = nullptr;
};

/// All forms of all search functions.
[[nodiscard]] std::vector<SearchForm> SearchForms();

}  // namespace infino::sql
