#include "infino/superfile/footer_keys.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/util/key_value_metadata.h>

#include "infino/common/json.h"
#include "infino/index/text/text_format.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_format.h"
#include "infino/superfile/open_section.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

nlohmann::json TextColumnsOf(const TableSchema& schema) {
  nlohmann::json columns = nlohmann::json::array();
  for (const TableColumn& column : schema.columns) {
    if (!column.text) continue;
    nlohmann::json entry = {
        {"name", column.field->name()},      {"field_id", column.field_id},
        {"analyzer", column.text->analyzer}, {"analysis_revision", text::kAnalysisRevision},
        {"stored", column.text->stored},     {"positions", column.text->positions}};
    if (column.text->k1) entry["k1"] = *column.text->k1;
    if (column.text->b) entry["b"] = *column.text->b;
    if (column.text->stopwords) entry["stopwords"] = *column.text->stopwords;
    if (column.text->stemmer) entry["stemmer"] = *column.text->stemmer;
    columns.push_back(std::move(entry));
  }
  return columns;
}

nlohmann::json VectorColumnsOf(const TableSchema& schema) {
  nlohmann::json columns = nlohmann::json::array();
  for (const TableColumn& column : schema.columns) {
    if (!column.vector) continue;
    columns.push_back({{"name", column.field->name()},
                       {"field_id", column.field_id},
                       {"dimension", column.vector->column.dimension},
                       {"metric", vector::NameOf(column.vector->column.metric)},
                       {"rerank", vector::NameOf(column.vector->column.tier)},
                       {"stored", column.vector->stored}});
  }
  return columns;
}

uint32_t VersionOf(RegionKind kind) {
  switch (kind) {
    case RegionKind::kText:
      return text::kTextFormatVersion;
    case RegionKind::kVector:
      return vector::kVectorFormatVersion;
    case RegionKind::kRowMap:
      break;
  }
  return kSuperfileFormatVersion;
}

}  // namespace

std::shared_ptr<const arrow::KeyValueMetadata> MakeFooterKeys(const TableSchema& schema,
                                                              const OpenSection& section,
                                                              const SuperfileSummary& summary) {
  auto keys = std::make_shared<arrow::KeyValueMetadata>();
  const auto add = [&](std::string_view key, const std::string& value) {
    keys->Append(std::string(key), value);
  };
  add(footer_key::kFormat, std::string(kFormatName));
  add(footer_key::kFormatVersion, std::to_string(kSuperfileFormatVersion));
  add(footer_key::kBuilder, std::string(kBuilderName));
  add(footer_key::kId, section.id.ToHex());
  add(footer_key::kIdColumn, std::string(kIdColumn));
  add(footer_key::kRows, std::to_string(section.row_count));
  add(footer_key::kSchemaId, std::to_string(schema.schema_id));
  add(footer_key::kOpenOffset, std::to_string(summary.open_section.offset));
  add(footer_key::kOpenLength, std::to_string(summary.open_section.length));
  for (const OpenRegion& region : section.regions) {
    const std::string prefix = "inf." + RegionName(region.kind, region.field_id);
    add(prefix + ".offset", std::to_string(region.place.offset));
    add(prefix + ".length", std::to_string(region.place.length));
    add(prefix + ".checksum", std::to_string(region.checksum));
    add(prefix + ".format_version", std::to_string(VersionOf(region.kind)));
  }
  const nlohmann::json texts = TextColumnsOf(schema);
  if (!texts.empty()) add(footer_key::kTextColumns, FormatJson(texts));
  const nlohmann::json vectors = VectorColumnsOf(schema);
  if (!vectors.empty()) add(footer_key::kVectorColumns, FormatJson(vectors));
  return keys;
}

}  // namespace infino
