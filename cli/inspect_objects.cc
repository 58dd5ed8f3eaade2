#include "cli/inspect_objects.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/decimal.h>

#include "infino/catalog/catalog.h"
#include "infino/codec/row_bitmap.h"
#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/points_codec.h"
#include "infino/manifest/root_codec.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/supertable/pointer.h"

namespace infino::cli {

namespace {

using Json = nlohmann::ordered_json;

Json DescribeRef(const ObjectRef& ref) {
  return {{"name", ref.name}, {"size_bytes", ref.size_bytes}};
}

Json DescribeRange(const ByteRange& range) {
  return {{"offset", range.offset}, {"length", range.length}};
}

arrow::Result<Json> DescribeSuperfile(const std::string& name,
                                      const std::shared_ptr<arrow::Buffer>& bytes) {
  const auto file = std::make_shared<BufferRangeReader>(bytes, name);
  ARROW_ASSIGN_OR_RAISE(const OpenSectionPlace found, FindOpenSection(*file, name));
  ARROW_ASSIGN_OR_RAISE(
      const auto superfile,
      SuperfileReader::Open(file, found.place,
                            arrow::SliceBuffer(bytes, found.place.offset, found.place.length),
                            found.id));
  ARROW_RETURN_NOT_OK(VerifySuperfile(*superfile));
  Json regions = Json::array();
  for (const SuperfileRegion& region : superfile->regions()) {
    Json described = DescribeRange(region.place);
    described["name"] = region.name;
    regions.push_back(std::move(described));
  }
  Json columns = Json::array();
  for (const auto& field : superfile->file_schema()->fields()) {
    columns.push_back({{"name", field->name()}, {"type", field->type()->ToString()}});
  }
  Json vectors = Json::array();
  for (const int32_t field_id : superfile->vector_field_ids()) {
    const vector::VectorIndexReader& index = *superfile->vector_index(field_id);
    Json lists = Json::array();
    for (const ContentHash& list : index.lists()) lists.push_back(list.ToHex());
    vectors.push_back({{"field_id", field_id},
                       {"dimension", index.column().dimension},
                       {"metric", vector::NameOf(index.column().metric)},
                       {"rerank", vector::NameOf(index.column().tier)},
                       {"clusters", index.clusters().size()},
                       {"lists", std::move(lists)}});
  }
  Json described{{"kind", "superfile"},
                 {"id", found.id.ToHex()},
                 {"size_bytes", bytes->size()},
                 {"rows", superfile->row_count()},
                 {"open_section", DescribeRange(found.place)},
                 {"columns", std::move(columns)},
                 {"regions", std::move(regions)},
                 {"vector_columns", std::move(vectors)}};
  if (superfile->row_count() > 0) {
    described["min_id"] = TextOfRowId(superfile->IdOf(0));
    described["max_id"] =
        TextOfRowId(superfile->IdOf(static_cast<DocId>(superfile->row_count() - 1)));
  }
  return described;
}

Json DescribeRoot(const ManifestRoot& root) {
  Json parts = Json::array();
  for (const PartRef& part : root.parts) {
    Json described = DescribeRef(part.object);
    described["totals"] = DescribeTotals(part.totals);
    parts.push_back(std::move(described));
  }
  Json points = Json::array();
  for (const PointsRef& list : root.points) {
    Json described = DescribeRef(list.object);
    described["field_id"] = list.field_id;
    points.push_back(std::move(described));
  }
  Json versions = Json::array();
  for (const VersionInfo& version : root.versions) {
    versions.push_back({{"version", version.version},
                        {"unix_ms", version.unix_ms},
                        {"operation", version.operation},
                        {"commit", version.commit.ToHex()},
                        {"rows_added", version.rows_added},
                        {"rows_removed", version.rows_removed}});
  }
  return {{"kind", "root"},
          {"version", root.version},
          {"commit", root.commit.ToHex()},
          {"schema", root.schema.ToArrow()->ToString()},
          {"totals", DescribeTotals(root.totals)},
          {"parts", std::move(parts)},
          {"points", std::move(points)},
          {"parent", root.parent ? Json(root.parent->name) : Json()},
          {"removed", root.removed},
          {"versions", std::move(versions)}};
}

Json DescribePart(const ManifestPart& part) {
  Json entries = Json::array();
  for (const SuperfileEntry& entry : part.entries) entries.push_back(DescribeEntry(entry));
  Json summaries = Json::array();
  for (const ObjectRef& summary : part.summaries) summaries.push_back(DescribeRef(summary));
  return {{"kind", "part"},
          {"commit", part.commit.ToHex()},
          {"summaries", std::move(summaries)},
          {"superfiles", std::move(entries)}};
}

Json DescribePoints(const ReferencePoints& points) {
  return {{"kind", "points"},
          {"field_id", points.field_id},
          {"list", points.list->id().ToHex()},
          {"points", points.list->size()},
          {"dimension", points.list->dimension()},
          {"spread", points.spread}};
}

arrow::Result<Json> DescribeTombstones(const std::string& name, const arrow::Buffer& bytes) {
  // How many rows there are only the manifest knows.
  constexpr uint64_t kRowsMax = uint64_t{1} << 32;
  ARROW_ASSIGN_OR_RAISE(
      const RowBitmap deleted,
      RowBitmap::Deserialize({bytes.data(), static_cast<size_t>(bytes.size())}, kRowsMax, name));
  return Json{
      {"kind", "tombstones"}, {"size_bytes", bytes.size()}, {"deleted", deleted.cardinality()}};
}

arrow::Result<Json> DescribePointer(const std::string& name, const arrow::Buffer& bytes) {
  ARROW_ASSIGN_OR_RAISE(const Pointer pointer, DecodePointer(bytes, name));
  Json commits = Json::array();
  for (const CommitId& commit : pointer.recent_commits) commits.push_back(commit.ToHex());
  return Json{{"kind", "pointer"},
              {"version", pointer.table_version},
              {"dropped", pointer.dropped},
              {"root", DescribeRef(pointer.root)},
              {"root_copy", pointer.root_copy != nullptr},
              {"recent_commits", std::move(commits)}};
}

arrow::Result<Json> DescribeCatalog(const arrow::Buffer& bytes) {
  ARROW_ASSIGN_OR_RAISE(const CatalogContent content, DecodeCatalog(bytes));
  return Json{{"kind", "catalog"}, {"version", content.version}, {"tables", content.tables}};
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Manifest objects have the hash of their content before the ending of their name.
arrow::Status CheckHashInName(const std::string& name, const arrow::Buffer& bytes) {
  constexpr size_t kHexLength = 64;
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot < kHexLength) {
    return MakeError(ErrorKind::kInvalidArgument, "'" + name + "' has no hash in its name");
  }
  ARROW_ASSIGN_OR_RAISE(
      const ContentHash wanted,
      ContentHash::FromHex(std::string_view(name).substr(dot - kHexLength, kHexLength)));
  const ContentHash found = Blake3({bytes.data(), static_cast<size_t>(bytes.size())});
  if (wanted == found) return arrow::Status::OK();
  return MakeError(ErrorKind::kCorrupt, "check '" + name + "': its bytes hash to " + found.ToHex());
}

}  // namespace

std::string TextOfRowId(const RowId& id) {
  return arrow::Decimal128(static_cast<int64_t>(id.high), id.low).ToIntegerString();
}

Json DescribeTotals(const ManifestTotals& totals) {
  Json texts = Json::array();
  for (const TextColumnTotals& text : totals.texts) {
    texts.push_back({{"field_id", text.field_id},
                     {"rows_with_token", text.rows_with_token},
                     {"token_total", text.token_total}});
  }
  return {{"superfiles", totals.superfile_count},
          {"rows", totals.row_count},
          {"deleted", totals.deleted_count},
          {"size_bytes", totals.size_bytes},
          {"text_columns", std::move(texts)}};
}

Json DescribeEntry(const SuperfileEntry& entry) {
  Json counted = Json::array();
  for (const SummaryRef& counts : entry.value_counts) counted.push_back(counts.field_id);
  Json texts = Json::array();
  for (const TextColumnSummary& text : entry.texts) {
    texts.push_back({{"field_id", text.field_id},
                     {"rows_with_token", text.rows_with_token},
                     {"token_total", text.token_total},
                     {"terms", text.term_count},
                     {"min_term", text.min_term},
                     {"max_term", text.max_term}});
  }
  return {{"id", entry.id.ToHex()},
          {"size_bytes", entry.size_bytes},
          {"rows", entry.row_count},
          {"deleted", entry.tombstones ? entry.tombstones->deleted_count : 0},
          {"min_id", TextOfRowId(entry.min_id)},
          {"max_id", TextOfRowId(entry.max_id)},
          {"open_section", DescribeRange(entry.open_section)},
          {"footer", DescribeRange({.offset = entry.size_bytes - entry.footer.length,
                                    .length = entry.footer.length})},
          {"commit", entry.commit.ToHex()},
          {"text_columns", std::move(texts)},
          {"counted_columns", std::move(counted)}};
}

arrow::Result<Json> DescribeObject(const std::string& name,
                                   const std::shared_ptr<arrow::Buffer>& bytes) {
  if (name.ends_with(".parquet")) return DescribeSuperfile(name, bytes);
  if (Contains(name, "_supertable/current")) return DescribePointer(name, *bytes);
  if (Contains(name, "_catalog/current")) return DescribeCatalog(*bytes);
  if (name.ends_with(".roaring")) {
    ARROW_RETURN_NOT_OK(CheckHashInName(name, *bytes));
    return DescribeTombstones(name, *bytes);
  }
  if (name.ends_with(".arrow") || name.ends_with(".json")) {
    ARROW_RETURN_NOT_OK(CheckHashInName(name, *bytes));
    if (name.ends_with(".json")) {
      ARROW_ASSIGN_OR_RAISE(const ManifestRoot root, DecodeRoot(*bytes, name));
      return DescribeRoot(root);
    }
    if (Contains(name, "part-")) {
      ARROW_ASSIGN_OR_RAISE(const ManifestPart part, DecodePart(*bytes, name));
      return DescribePart(part);
    }
    if (Contains(name, "points-")) {
      ARROW_ASSIGN_OR_RAISE(const ReferencePoints points, DecodePoints(*bytes, name));
      return DescribePoints(points);
    }
    return Json{{"kind", "summary"}, {"size_bytes", bytes->size()}};
  }
  return MakeError(ErrorKind::kInvalidArgument,
                   "'" + name +
                       "' is not named like an object of a table: *.parquet, part-*.arrow, "
                       "summary-*.arrow, points-*.arrow, <version>-*.json, *.roaring, "
                       "_supertable/current, _catalog/current");
}

}  // namespace infino::cli
