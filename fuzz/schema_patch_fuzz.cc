#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <arrow/type.h>

#include "infino/catalog/schema_document.h"
#include "infino/catalog/schema_evolution.h"
#include "infino/common/bytes.h"
#include "infino/common/json.h"
#include "infino/error.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/widening.h"

// The bytes as a schema patch. What it makes of a schema is one that a table can have, every column
// that stays can be read as it is then, and the document of the result is a patch that changes
// nothing.

namespace infino {
namespace {

TableSchema Schema() {
  TableSchema schema;
  for (const auto& field :
       {arrow::field("a", arrow::int8()), arrow::field("b", arrow::utf8(), /*nullable=*/false),
        arrow::field("c", arrow::list(arrow::struct_({arrow::field("x", arrow::float16())}))),
        arrow::field("d", arrow::decimal128(5, 2))}) {
    schema.columns.push_back({.field_id = ++schema.last_field_id, .field = field});
  }
  return schema;
}

void Try(std::string_view text, bool has_superfiles) {
  const auto patch = ParseSchemaPatch(text);
  if (!patch.ok()) {
    if (!IsError(patch.status(), ErrorKind::kInvalidArgument)) std::abort();
    return;
  }
  const TableSchema before = Schema();
  const auto after = ApplyPatch(before, *patch, has_superfiles);
  if (!after.ok()) {
    if (!IsError(after.status(), ErrorKind::kInvalidArgument)) std::abort();
    return;
  }
  if (!after->has_value()) return;
  const TableSchema& schema = **after;
  if (!ValidateTableSchema(schema).ok()) std::abort();
  for (const TableColumn& column : before.columns) {
    const TableColumn* now = schema.FindById(column.field_id);
    if ((now == nullptr) != schema.IsDropped(column.field_id)) std::abort();
    if (now != nullptr && !IsWidening(*column.field->type(), *now->field->type())) std::abort();
  }
  const auto document = ParseSchemaPatch(FormatJson(SchemaToDocument(schema)));
  if (!document.ok()) std::abort();
  const auto again = ApplyPatch(schema, *document, has_superfiles);
  if (!again.ok() || again->has_value()) std::abort();
}

}  // namespace
}  // namespace infino

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = infino::AsText({data, size});
  infino::Try(text, true);
  infino::Try(text, false);
  return 0;
}
