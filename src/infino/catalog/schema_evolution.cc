#include "infino/catalog/schema_evolution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/catalog/declared_schema.h"
#include "infino/catalog/document_fields.h"
#include "infino/catalog/schema_document.h"
#include "infino/catalog/type_document.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/query/text_plan.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/widening.h"

namespace infino {
namespace {

/// Whether both are the same for what a document says of types.
bool SameType(const arrow::DataType& a, const arrow::DataType& b) {
  if (a.Equals(b)) return true;
  nlohmann::json left = nlohmann::json::object();
  nlohmann::json right = nlohmann::json::object();
  TypeToDocument(a, &left);
  TypeToDocument(b, &right);
  return left == right;
}

TextIndexOptions WithNumbers(TextIndexOptions options) {
  const Bm25Parameters standard;
  options.k1 = options.k1.value_or(standard.k1);
  options.b = options.b.value_or(standard.b);
  return options;
}

bool SameIndex(const TableVectorIndex& index, const VectorIndexPatch& patch) {
  return vector::MetricOfName(patch.options.metric) == index.column.metric &&
         vector::TierOfName(patch.options.rerank) == index.column.tier &&
         patch.options.stored == index.stored &&
         patch.rotation_seed.value_or(index.column.rotation_seed) == index.column.rotation_seed;
}

/// Whether a patch's index is the one that the column has.
bool HasIndex(const TableColumn& column, const FieldPatch& patch) {
  if (!patch.index) return true;
  if (std::holds_alternative<std::monostate>(*patch.index)) return !column.text && !column.vector;
  if (const auto* text = std::get_if<TextIndexOptions>(&*patch.index)) {
    return column.text && WithNumbers(*column.text) == WithNumbers(*text);
  }
  const auto* vectors = std::get_if<VectorIndexPatch>(&*patch.index);
  return column.vector && SameIndex(*column.vector, *vectors);
}

/// One patch on its way into a schema.
class Evolution {
 public:
  Evolution(const TableSchema& schema, bool has_superfiles)
      : next_(schema), has_superfiles_(has_superfiles) {}

  arrow::Result<std::optional<TableSchema>> Run(const SchemaPatch& patch) {
    ARROW_RETURN_NOT_OK(CheckDropped(patch));
    if (patch.fields_max && *patch.fields_max != next_.columns_max) {
      next_.columns_max = *patch.fields_max;
      changed_ = true;
    }
    for (const FieldPatch& field : patch.fields) ARROW_RETURN_NOT_OK(Take(field));
    if (!changed_) return std::optional<TableSchema>();
    ARROW_RETURN_NOT_OK(ValidateTableSchema(next_));
    ++next_.schema_id;
    return std::move(next_);
  }

 private:
  arrow::Status CheckDropped(const SchemaPatch& patch) const {
    for (const int32_t field_id : patch.dropped_field_ids) {
      if (next_.IsDropped(field_id)) continue;
      return BadDocument("patch.tombstoned", "no column with id " + std::to_string(field_id) +
                                                 " was dropped; drop one by 'dropped': true");
    }
    return arrow::Status::OK();
  }

  arrow::Result<TableColumn*> Find(const FieldPatch& patch) {
    const auto found = std::ranges::find_if(next_.columns, [&](const TableColumn& column) {
      return patch.id ? column.field_id == *patch.id : column.field->name() == *patch.name;
    });
    if (found != next_.columns.end()) return &*found;
    if (!patch.id) return nullptr;
    return BadDocument(patch.path, "the table has no column with id " + std::to_string(*patch.id) +
                                       (next_.IsDropped(*patch.id) ? ": it was dropped" : ""));
  }

  arrow::Status Take(const FieldPatch& patch) {
    ARROW_ASSIGN_OR_RAISE(TableColumn * column, Find(patch));
    if (column == nullptr && patch.dropped) {
      return BadDocument(patch.path, "the table has no such column to drop");
    }
    if (column == nullptr) return Add(patch);
    if (!taken_.insert(column->field_id).second) {
      return BadDocument(patch.path, "the patch has this column twice");
    }
    return patch.dropped ? Drop(patch, *column) : Change(patch, *column);
  }

  arrow::Status Add(const FieldPatch& patch) {
    if (patch.type == nullptr) {
      return BadDocument(patch.path, "the table has no such column; to add it, give its type");
    }
    if (next_.last_field_id + 1 >= kNamedFieldIdMin) {
      return BadDocument(patch.path, "the table has had too many columns");
    }
    TableColumn column;
    column.field_id = ++next_.last_field_id;
    column.field = arrow::field(*patch.name, patch.type, patch.nullable.value_or(true));
    if (!column.field->nullable() && has_superfiles_) {
      return BadDocument(patch.path, "a table with rows gets no column that is not null");
    }
    if (patch.index && std::holds_alternative<VectorIndexPatch>(*patch.index)) {
      return BadDocument(patch.path, "a vector index is made with its table only");
    }
    if (patch.index && std::holds_alternative<TextIndexOptions>(*patch.index)) {
      column.text = std::get<TextIndexOptions>(*patch.index);
    }
    taken_.insert(column.field_id);
    next_.columns.push_back(std::move(column));
    changed_ = true;
    if (next_.columns.size() <= static_cast<size_t>(next_.columns_max)) return arrow::Status::OK();
    return BadDocument(patch.path, "the table may have no more columns; max_fields=" +
                                       std::to_string(next_.columns_max));
  }

  arrow::Status Drop(const FieldPatch& patch, const TableColumn& column) {
    const int32_t field_id = column.field_id;
    if (patch.name && *patch.name != column.field->name()) {
      return BadDocument(patch.path, "a column is renamed or dropped, not both");
    }
    next_.dropped_field_ids.insert(std::ranges::upper_bound(next_.dropped_field_ids, field_id),
                                   field_id);
    std::erase_if(next_.columns,
                  [&](const TableColumn& each) { return each.field_id == field_id; });
    changed_ = true;
    return arrow::Status::OK();
  }

  arrow::Status Change(const FieldPatch& patch, TableColumn& column) {
    std::shared_ptr<arrow::Field> field = column.field;
    if (!HasIndex(column, patch)) {
      return BadDocument(patch.path,
                         "the index of a column can't be changed; an index is given to a "
                         "new column");
    }
    if (patch.name) field = field->WithName(*patch.name);
    if (patch.type != nullptr && !SameType(*field->type(), *patch.type)) {
      if (!IsWidening(*field->type(), *patch.type)) {
        return BadDocument(patch.path, "a column of type " + field->type()->ToString() +
                                           " can't become " + patch.type->ToString() +
                                           ": only to types that hold every value unchanged");
      }
      field = field->WithType(patch.type);
    }
    if (patch.nullable && *patch.nullable != field->nullable()) {
      if (field->nullable() && has_superfiles_) {
        return BadDocument(patch.path,
                           "it may be null, which can't be taken back once the table "
                           "has rows");
      }
      field = field->WithNullable(*patch.nullable);
    }
    if (field->Equals(*column.field)) return arrow::Status::OK();
    column.field = std::move(field);
    changed_ = true;
    return arrow::Status::OK();
  }

  TableSchema next_;
  bool has_superfiles_;
  bool changed_ = false;
  std::set<int32_t> taken_;  ///< Columns that the patch has had already.
};

}  // namespace

arrow::Result<std::optional<TableSchema>> ApplyPatch(const TableSchema& schema,
                                                     const SchemaPatch& patch,
                                                     bool has_superfiles) {
  return Evolution(schema, has_superfiles).Run(patch);
}

arrow::Result<TableSchema> SchemaFromPatch(const SchemaPatch& patch, Random& random) {
  arrow::FieldVector fields;
  IndexSpec spec;
  for (const FieldPatch& field : patch.fields) {
    if (field.dropped) return BadDocument(field.path, "a new table has no column to drop");
    if (!field.name) return BadDocument(field.path, "a column of a new table needs a name");
    if (field.type == nullptr) return BadDocument(field.path, "it needs a type");
    fields.push_back(arrow::field(*field.name, field.type, field.nullable.value_or(true)));
    if (!field.index) continue;
    if (const auto* text = std::get_if<TextIndexOptions>(&*field.index)) {
      spec.Fts(*field.name, *text);
    } else if (const auto* vectors = std::get_if<VectorIndexPatch>(&*field.index)) {
      spec.Vector(*field.name, 0, vectors->options);
    }
  }
  ARROW_ASSIGN_OR_RAISE(TableSchema schema,
                        DeclareSchema(*arrow::schema(std::move(fields)), spec, random));
  for (size_t i = 0; i < patch.fields.size(); ++i) {
    const FieldPatch& field = patch.fields[i];
    const auto* vectors = field.index ? std::get_if<VectorIndexPatch>(&*field.index) : nullptr;
    std::optional<TableVectorIndex>& index = schema.columns[i].vector;
    if (vectors == nullptr || !index || !vectors->rotation_seed) continue;
    index->column.rotation_seed = *vectors->rotation_seed;
  }
  if (patch.fields_max) schema.columns_max = *patch.fields_max;
  if (schema.columns.size() > static_cast<size_t>(schema.columns_max)) {
    return BadDocument("patch",
                       "it has more fields than max_fields=" + std::to_string(schema.columns_max));
  }
  return schema;
}

}  // namespace infino
