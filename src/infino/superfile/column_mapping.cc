#include "infino/superfile/column_mapping.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "infino/error.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/widening.h"

namespace infino {
namespace {

/// `file_ordinal` is -1 for a column that the file lacks.
arrow::Result<MappedColumn> Map(const SuperfileReader& superfile, int32_t field_id,
                                const std::shared_ptr<arrow::Field>& declared, int file_ordinal) {
  MappedColumn column{.field_id = field_id, .declared = declared, .file_ordinal = file_ordinal};
  const auto corrupt = [&](const std::string& what) {
    return MakeError(ErrorKind::kCorrupt, "read column '" + declared->name() + "' of " +
                                              superfile.name() + ": " + what +
                                              "; field_id=" + std::to_string(field_id));
  };
  if (!column.is_in_file()) {
    if (!declared->nullable()) return corrupt("it is declared not null and the file lacks it");
    return column;
  }
  column.file_type = superfile.file_schema()->field(file_ordinal)->type();
  if (!IsWidening(*column.file_type, *declared->type())) {
    return corrupt("the file has it as " + column.file_type->ToString() +
                   ", which is not readable as " + declared->type()->ToString());
  }
  return column;
}

}  // namespace

arrow::Result<std::vector<MappedColumn>> MapColumns(const SuperfileReader& superfile,
                                                    std::span<const int32_t> field_ids,
                                                    const arrow::FieldVector& declared) {
  std::unordered_map<int32_t, int> ordinals;
  for (int i = 0; i < superfile.file_schema()->num_fields(); ++i) {
    const std::optional<int32_t> field_id = FieldIdOf(*superfile.file_schema()->field(i));
    if (field_id) ordinals.emplace(*field_id, i);
  }
  std::vector<MappedColumn> columns;
  columns.reserve(field_ids.size());
  for (size_t i = 0; i < field_ids.size(); ++i) {
    const auto found = ordinals.find(field_ids[i]);
    ARROW_ASSIGN_OR_RAISE(MappedColumn mapped, Map(superfile, field_ids[i], declared[i],
                                                   found == ordinals.end() ? -1 : found->second));
    columns.push_back(std::move(mapped));
  }
  return columns;
}

arrow::Result<std::vector<MappedColumn>> MapColumns(const SuperfileReader& superfile,
                                                    const TableSchema& schema) {
  std::vector<int32_t> field_ids;
  arrow::FieldVector declared;
  for (const TableColumn& column : schema.columns) {
    if (!column.stored()) continue;
    field_ids.push_back(column.field_id);
    declared.push_back(column.field);
  }
  return MapColumns(superfile, field_ids, declared);
}

arrow::Result<std::shared_ptr<arrow::Array>> AsDeclared(const MappedColumn& column,
                                                        const std::shared_ptr<arrow::Array>& values,
                                                        int64_t row_count) {
  if (column.is_in_file()) return Widen(values, column.declared->type());
  return arrow::MakeArrayOfNull(column.declared->type(), row_count);
}

}  // namespace infino
