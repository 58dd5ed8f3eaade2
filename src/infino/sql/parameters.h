#pragma once

#include <memory>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "duckdb/planner/bound_parameter_map.hpp"

namespace infino::sql {

/// The values of a statement's parameters, from the one row of `row`, whose columns are named as
/// the parameters are: "1", "2", … for ? and $1, else as in $name. Null: none. kInvalidArgument for
/// a type that SQL has no value of, or another number of rows.
[[nodiscard]] arrow::Result<duckdb::case_insensitive_map_t<duckdb::BoundParameterData>>
ToParameters(const std::shared_ptr<arrow::RecordBatch>& row);

}  // namespace infino::sql
