#include "infino/commit/row_coercion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/array/validate.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/utf8.h>

#include "infino/commit/type_conversion.h"
#include "infino/commit/vector_conversion.h"
#include "infino/error.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

arrow::Status Invalid(std::string message) {
  return MakeError(ErrorKind::kInvalidArgument, std::move(message));
}

std::string ListColumns(const TableSchema& schema) {
  constexpr size_t kListedMax = 40;
  if (schema.columns.empty()) return "it has none";
  std::string list = "its columns are ";
  for (size_t i = 0; i < std::min(schema.columns.size(), kListedMax); ++i) {
    if (i > 0) list += ", ";
    list += "'" + schema.columns[i].field->name() + "'";
  }
  if (schema.columns.size() > kListedMax) {
    list += " and " + std::to_string(schema.columns.size() - kListedMax) + " more";
  }
  return list;
}

arrow::Status CheckNames(const TableSchema& schema, const arrow::Schema& input,
                         RowCoercion::UnknownNulls unknown_nulls) {
  std::set<std::string> seen;
  for (const auto& field : input.fields()) {
    const std::string& name = field->name();
    if (name == kIdColumn) {
      return Invalid("the batch carries a column '_id': the table generates it; leave it out");
    }
    if (!seen.insert(name).second) {
      return Invalid("the batch carries the column '" + name + "' more than once");
    }
    const bool is_ignored = unknown_nulls == RowCoercion::UnknownNulls::kIgnore &&
                            field->type()->id() == arrow::Type::NA;
    if (!is_ignored && schema.Find(name) == nullptr) {
      return Invalid("the table has no column '" + name + "': " + ListColumns(schema));
    }
  }
  return arrow::Status::OK();
}

std::string RowName(uint64_t first_row, int64_t row) {
  return "row " + std::to_string(first_row + static_cast<uint64_t>(row));
}

template <typename ArrayType>
int64_t FirstInvalidText(const arrow::Array& array) {
  const auto& texts = static_cast<const ArrayType&>(array);
  for (int64_t i = 0; i < texts.length(); ++i) {
    if (texts.IsValid(i) && !arrow::util::ValidateUTF8(texts.GetView(i))) return i;
  }
  return -1;
}

/// The first row whose text is not UTF-8, or -1. REQUIRES: offsets are valid.
int64_t FirstInvalidRow(const arrow::Array& array) {
  arrow::util::InitializeUTF8();
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return FirstInvalidText<arrow::StringArray>(array);
    case arrow::Type::LARGE_STRING:
      return FirstInvalidText<arrow::LargeStringArray>(array);
    case arrow::Type::STRING_VIEW:
      return FirstInvalidText<arrow::StringViewArray>(array);
    default:
      return -1;
  }
}

/// Arrow's types of a layout that ValidateFull would judge by the text alone.
std::shared_ptr<arrow::DataType> BytesTypeOf(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::STRING:
      return arrow::binary();
    case arrow::Type::LARGE_STRING:
      return arrow::large_binary();
    case arrow::Type::STRING_VIEW:
      return arrow::binary_view();
    default:
      return nullptr;
  }
}

arrow::Status DescribeInvalid(const arrow::Array& array, const std::string& column,
                              uint64_t first_row, const arrow::Status& found) {
  const auto bytes_type = BytesTypeOf(array.type_id());
  if (bytes_type != nullptr) {
    const auto data = array.data()->Copy();
    data->type = bytes_type;
    // With sound offsets it is the text; only then may the values be looked at one by one.
    if (arrow::internal::ValidateArrayFull(*data).ok()) {
      return Invalid("column '" + column + "' carries text that is not valid UTF-8 in " +
                     RowName(first_row, std::max<int64_t>(FirstInvalidRow(array), 0)));
    }
  }
  return Invalid("column '" + column + "' carries a malformed Arrow array: " + found.message());
}

arrow::Status CheckNulls(const arrow::Array& values, const arrow::Field& field,
                         uint64_t first_row) {
  if (!field.nullable() && values.ComputeLogicalNullCount() > 0) {
    std::string message =
        "column '" + field.name() + "' is declared not null but the batch carries a null in it";
    int64_t row = 0;
    while (row < values.length() && values.IsValid(row)) ++row;
    // A null that a dictionary holds is no null by its place.
    if (row < values.length()) message += ", in " + RowName(first_row, row);
    return Invalid(std::move(message));
  }
  return CheckNestedNulls(values, field.name());
}

}  // namespace

arrow::Result<RowCoercion> RowCoercion::Make(const TableSchema& schema, const arrow::Schema& input,
                                             UnknownNulls unknown_nulls) {
  ARROW_RETURN_NOT_OK(CheckNames(schema, input, unknown_nulls));
  RowCoercion coercion;
  coercion.schema_ = schema.ToArrow();
  // Arrow makes a schema's fingerprint when it is first compared: better once here than by all the
  // lanes that come first.
  static_cast<void>(coercion.schema_->fingerprint());
  for (const TableColumn& column : schema.columns) {
    const arrow::Field& field = *column.field;
    const int source = input.GetFieldIndex(field.name());
    coercion.sources_.push_back(source);
    coercion.has_vectors_.push_back(column.vector.has_value());
    if (column.vector) {
      if (source < 0) continue;
      ARROW_RETURN_NOT_OK(CheckConvertibleVectors(*input.field(source)->type(), field));
    } else if (source >= 0) {
      ARROW_RETURN_NOT_OK(CheckConvertible(*input.field(source)->type(), field, field.name()));
    } else if (!field.nullable()) {
      return Invalid("the batch lacks the column '" + field.name() +
                     "', which is declared not null");
    }
  }
  return coercion;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowCoercion::Coerce(
    const arrow::RecordBatch& rows, uint64_t first_row) const {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  columns.reserve(sources_.size());
  for (size_t i = 0; i < sources_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto values, CoerceColumn(i, rows, first_row));
    columns.push_back(std::move(values));
  }
  return arrow::RecordBatch::Make(schema_, rows.num_rows(), std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::Array>> RowCoercion::CoerceColumn(
    size_t ordinal, const arrow::RecordBatch& rows, uint64_t first_row) const {
  const arrow::Field& field = *schema_->field(static_cast<int>(ordinal));
  const int source = sources_[ordinal];
  std::shared_ptr<arrow::Array> values;
  if (source < 0) {
    ARROW_ASSIGN_OR_RAISE(
        values, arrow::MakeArrayOfNull(has_vectors_[ordinal] ? arrow::null() : field.type(),
                                       rows.num_rows()));
  } else {
    values = rows.column(source);
  }
  if (has_vectors_[ordinal]) return ConvertVectors(values, field, first_row);
  if (source < 0) return values;
  ARROW_ASSIGN_OR_RAISE(values, ConvertArray(values, field, field.name()));
  ARROW_RETURN_NOT_OK(CheckNulls(*values, field, first_row));
  return values;
}

arrow::Status ValidateRows(const arrow::RecordBatch& rows, uint64_t first_row) {
  for (int i = 0; i < rows.num_columns(); ++i) {
    const std::shared_ptr<arrow::Array> column = rows.column(i);
    const std::string& name = rows.schema()->field(i)->name();
    if (column->length() != rows.num_rows() ||
        !column->type()->Equals(rows.schema()->field(i)->type())) {
      return Invalid("column '" + name +
                     "' carries a malformed Arrow array: its length or type is not the batch's");
    }
    const arrow::Status status = arrow::internal::ValidateArrayFull(*column);
    if (!status.ok()) return DescribeInvalid(*column, name, first_row, status);
  }
  return arrow::Status::OK();
}

}  // namespace infino
