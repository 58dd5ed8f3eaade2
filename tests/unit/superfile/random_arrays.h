#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "infino/common/random.h"

namespace infino {

/// Random values of any type that a superfile holds. `null_share` is for the array and all that is
/// nullable in it.
[[nodiscard]] std::shared_ptr<arrow::Array> RandomArray(
    const std::shared_ptr<arrow::DataType>& type, int64_t length, Random& random,
    double null_share = 0.2);

/// Rows of `schema`; columns that are not nullable have no nulls.
[[nodiscard]] std::shared_ptr<arrow::RecordBatch> RandomBatch(
    const std::shared_ptr<arrow::Schema>& schema, int64_t length, Random& random);

/// Every type that a superfile holds, nested ones included, each under a name.
[[nodiscard]] arrow::FieldVector AllTypes();

/// Words with blanks between them.
[[nodiscard]] std::string RandomText(Random& random, size_t words_max);

}  // namespace infino
