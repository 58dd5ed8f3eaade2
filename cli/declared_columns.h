#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "cli/input.h"
#include "infino/index_spec.h"

namespace infino::cli {

/// A column written as NAME:TYPE.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Field>> ParseColumn(const std::string& text);

/// The columns of a file as a table would have them: text that is to be indexed, or was only
/// inferred to be text, becomes large text; no metadata.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Schema>> SchemaOfFile(const InputSource& source);

/// What a table is created with.
struct Declaration {
  std::shared_ptr<arrow::Schema> schema;
  IndexSpec indexes;
};

/// Adds the vector index that `text`, COLUMN[:DIMENSION][:METRIC], asks for; `options` are the
/// others'. A column of lists of numbers becomes one of float vectors of that dimension.
[[nodiscard]] arrow::Status AddVectorIndex(const std::string& text, VectorIndexOptions options,
                                           Declaration& declaration);

}  // namespace infino::cli
