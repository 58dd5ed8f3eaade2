#include "infino/commit/schema_growth.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/commit/type_conversion.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/widening.h"

namespace infino {
namespace {

/// The field id of a column that an append adds: the first one free of those that its name gives.
int32_t NamedFieldId(const TableSchema& schema, const std::string& name) {
  constexpr auto kIdCount =
      static_cast<uint32_t>(std::numeric_limits<int32_t>::max() - kNamedFieldIdMin) + 1;
  for (uint32_t attempt = 0;; ++attempt) {
    const ContentHash hash = Blake3(AsBytes(std::to_string(attempt) + "/" + name));
    uint32_t number = 0;
    for (size_t i = 0; i < sizeof(number); ++i) number = number << 8 | hash.bytes[i];
    const int32_t field_id = kNamedFieldIdMin + static_cast<int32_t>(number % kIdCount);
    if (schema.FindById(field_id) == nullptr && !schema.IsDropped(field_id)) return field_id;
  }
}

arrow::Status CheckCount(const TableSchema& schema) {
  if (schema.columns.size() <= static_cast<size_t>(schema.columns_max)) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   "add column '" + schema.columns.back().field->name() +
                       "': the table may have no more columns; max_fields=" +
                       std::to_string(schema.columns_max));
}

/// Whether the values of a column of the files are values of the table's column.
arrow::Status CheckSameColumn(const arrow::Field& now, const arrow::Field& written) {
  const arrow::DataType& from = *written.type();
  const std::string change = "append: column '" + written.name() + "' was written as " +
                             from.ToString() + ", and another commit has made it " +
                             now.type()->ToString();
  if (!IsWidening(from, *now.type())) {
    const bool may_fit = CheckConvertible(from, now, now.name()).ok();
    return MakeError(may_fit ? ErrorKind::kConflict : ErrorKind::kInvalidArgument,
                     change + (may_fit ? "; append the rows again" : "; convert it"));
  }
  if (now.nullable() || !written.nullable()) return arrow::Status::OK();
  return MakeError(ErrorKind::kConflict, "append: another commit has made column '" + now.name() +
                                             "' not null; append the rows again");
}

}  // namespace

arrow::Result<TableSchema> GrowSchema(const TableSchema& schema, const arrow::Schema& input) {
  TableSchema grown = schema;
  for (const auto& field : input.fields()) {
    // Names that are taken or reserved are refused where rows are matched, with all other faults.
    const bool is_new = field->type()->id() != arrow::Type::NA && field->name() != kIdColumn &&
                        grown.Find(field->name()) == nullptr;
    if (!is_new) continue;
    TableColumn column;
    column.field_id = NamedFieldId(grown, field->name());
    column.field = arrow::field(field->name(), field->type(), /*nullable=*/true);
    grown.columns.push_back(std::move(column));
    ARROW_RETURN_NOT_OK(CheckCount(grown));
  }
  if (grown.columns.size() == schema.columns.size()) return grown;
  ++grown.schema_id;
  const arrow::Status valid = ValidateTableSchema(grown);
  if (!valid.ok()) return FromForeign(valid, "add columns to the table");
  return grown;
}

arrow::Result<std::optional<TableSchema>> SchemaForFiles(const TableSchema& now,
                                                         const TableSchema& written) {
  TableSchema next = now;
  for (const TableColumn& column : written.columns) {
    if (now.IsDropped(column.field_id)) continue;
    if (const TableColumn* same = now.FindById(column.field_id)) {
      ARROW_RETURN_NOT_OK(CheckSameColumn(*same->field, *column.field));
      continue;
    }
    if (column.field_id < kNamedFieldIdMin || now.Find(column.field->name()) != nullptr) {
      return MakeError(ErrorKind::kConflict, "append: another commit has made a column '" +
                                                 column.field->name() +
                                                 "', too; append the rows again");
    }
    next.columns.push_back(column);
    ARROW_RETURN_NOT_OK(CheckCount(next));
  }
  for (const TableColumn& column : now.columns) {
    if (column.field->nullable() || written.FindById(column.field_id) != nullptr) continue;
    return MakeError(ErrorKind::kConflict, "append: another commit has added the column '" +
                                               column.field->name() +
                                               "', which is not null; append the rows again");
  }
  if (next.columns.size() == now.columns.size()) return std::optional<TableSchema>();
  ++next.schema_id;
  return next;
}

}  // namespace infino
