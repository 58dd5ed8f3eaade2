#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <arrow/extension_type.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/utf8.h>

#include "infino/common/type_families.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;

/// Nested types go no deeper than this.
constexpr int kDepthMax = 20;

/// What is wrong with a type, or nothing.
std::string ProblemOf(const arrow::DataType& type, int depth);

std::string ProblemOfChildren(const arrow::DataType& type, int depth) {
  for (const auto& field : type.fields()) {
    std::string problem = ProblemOf(*field->type(), depth + 1);
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string NotHeld(const arrow::DataType& type) {
  return "type " + type.ToString() + " is not supported";
}

std::string ProblemOfDictionary(const arrow::DictionaryType& type, int depth) {
  const arrow::DataType& values = *type.value_type();
  if (arrow::is_nested(values.id()) || values.id() == arrow::Type::DICTIONARY ||
      values.id() == arrow::Type::EXTENSION || values.id() == arrow::Type::NA ||
      values.id() == arrow::Type::STRING_VIEW || values.id() == arrow::Type::BINARY_VIEW) {
    return NotHeld(type);
  }
  return ProblemOf(values, depth);
}

std::string ProblemOf(const arrow::DataType& type, int depth) {
  if (depth > kDepthMax) {
    return "its type is nested deeper than " + std::to_string(kDepthMax) + " levels";
  }
  switch (type.id()) {
    case arrow::Type::EXTENSION:
      return ProblemOf(*checked_cast<const arrow::ExtensionType&>(type).storage_type(), depth);
    case arrow::Type::DICTIONARY:
      return ProblemOfDictionary(checked_cast<const arrow::DictionaryType&>(type), depth);
    case arrow::Type::STRUCT:
      return type.num_fields() == 0 ? "a struct without fields is not supported"
                                    : ProblemOfChildren(type, depth);
    case arrow::Type::FIXED_SIZE_LIST:
      return checked_cast<const arrow::FixedSizeListType&>(type).list_size() == 0
                 ? NotHeld(type)
                 : ProblemOfChildren(type, depth);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::LIST_VIEW:
    case arrow::Type::LARGE_LIST_VIEW:
    case arrow::Type::MAP:
      return ProblemOfChildren(type, depth);
    case arrow::Type::SPARSE_UNION:
    case arrow::Type::DENSE_UNION:
    case arrow::Type::RUN_END_ENCODED:
    case arrow::Type::INTERVAL_MONTHS:
    case arrow::Type::INTERVAL_DAY_TIME:
    case arrow::Type::INTERVAL_MONTH_DAY_NANO:
    case arrow::Type::MAX_ID:
      return NotHeld(type);
    default:
      return {};
  }
}

std::string ProblemOfTextIndex(const TableColumn& column) {
  const arrow::Type::type type = column.field->type()->id();
  if (!IsText(type)) {
    return "a text index needs a column of type large_utf8, utf8 or string_view; this one is " +
           column.field->type()->ToString();
  }
  const TextIndexOptions& options = *column.text;
  if (options.k1.has_value() != options.b.has_value()) {
    return "k1 and b are given together or not at all";
  }
  if (options.k1 && (!std::isfinite(*options.k1) || *options.k1 <= 0)) {
    return "k1 must be a finite number above 0, not " + std::to_string(*options.k1);
  }
  if (options.b && !(*options.b >= 0 && *options.b <= 1)) {
    return "b must be between 0 and 1, not " + std::to_string(*options.b);
  }
  const auto analyzer = text::Analyzer::Make(options);
  return analyzer.ok() ? std::string() : analyzer.status().message();
}

std::string ProblemOfVectorIndex(const TableColumn& column) {
  if (column.text) return "it can't have a text index and a vector index";
  const std::optional<uint32_t> dimension = DimensionOf(*column.field->type());
  if (!dimension) {
    return "a vector index needs a column of type fixed_size_list<float>; this one is " +
           column.field->type()->ToString();
  }
  if (*dimension < vector::kDimensionMin || *dimension > vector::kDimensionMax) {
    return "a vector index needs vectors of " + std::to_string(vector::kDimensionMin) + " to " +
           std::to_string(vector::kDimensionMax) + " dimensions; these have " +
           std::to_string(*dimension);
  }
  if (column.vector->column.dimension != *dimension) {
    return "it has vectors of " + std::to_string(*dimension) + " dimensions, its index of " +
           std::to_string(column.vector->column.dimension);
  }
  return {};
}

std::string ProblemOf(const TableColumn& column) {
  const std::string& name = column.field->name();
  if (name == kIdColumn) return "the name is reserved for the generated key";
  arrow::util::InitializeUTF8();
  if (!arrow::util::ValidateUTF8(name)) return "the name is not UTF-8";
  if (column.field_id <= kIdFieldId) return "its field id is not above 0";
  std::string problem = ProblemOf(*column.field->type(), 1);
  if (problem.empty() && column.text) problem = ProblemOfTextIndex(column);
  if (problem.empty() && column.vector) problem = ProblemOfVectorIndex(column);
  return problem;
}

}  // namespace

arrow::Status ValidateTableSchema(const TableSchema& schema) {
  std::set<std::string_view> names;
  std::set<int32_t> field_ids;
  for (const TableColumn& column : schema.columns) {
    std::string problem = ProblemOf(column);
    if (problem.empty() && !names.insert(column.field->name()).second) {
      problem = "duplicate column name";
    }
    if (problem.empty() && !field_ids.insert(column.field_id).second) {
      problem = "duplicate field id " + std::to_string(column.field_id);
    }
    if (!problem.empty()) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "column '" + column.field->name() + "': " + problem);
    }
  }
  return arrow::Status::OK();
}

}  // namespace infino
