#include "infino/manifest/root_codec.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/schema_codec.h"
#include "infino/manifest/totals.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

using nlohmann::json;

constexpr std::string_view kRootKind = "root";

ByteSpan SpanOf(const arrow::Buffer& bytes) {
  return {bytes.data(), static_cast<size_t>(bytes.size())};
}

json TextsToJson(const std::vector<TextColumnTotals>& texts) {
  json out = json::array();
  for (const TextColumnTotals& text : texts) {
    out.push_back(json::array({text.field_id, text.rows_with_token, text.token_total}));
  }
  return out;
}

arrow::Result<std::vector<TextColumnTotals>> TextsFromJson(const json& value,
                                                           std::string_view object) {
  std::vector<TextColumnTotals> texts;
  int64_t last_field_id = kIdFieldId;
  for (const json& in : value) {
    JsonRow row(in, object);
    TextColumnTotals text;
    ARROW_ASSIGN_OR_RAISE(const int64_t field_id, row.NextCount());
    ARROW_ASSIGN_OR_RAISE(text.rows_with_token, row.NextCount());
    ARROW_ASSIGN_OR_RAISE(text.token_total, row.NextCount());
    ARROW_RETURN_NOT_OK(row.Finish());
    if (field_id <= last_field_id || field_id > std::numeric_limits<int32_t>::max()) {
      return CorruptObject(object, "text totals out of order");
    }
    last_field_id = field_id;
    text.field_id = static_cast<int32_t>(field_id);
    texts.push_back(text);
  }
  return texts;
}

json TotalsToJson(const ManifestTotals& totals) {
  return {{"superfiles", totals.superfile_count},
          {"rows", totals.row_count},
          {"deleted", totals.deleted_count},
          {"bytes", totals.size_bytes},
          {"texts", TextsToJson(totals.texts)}};
}

arrow::Result<ManifestTotals> TotalsFromJson(const json& value, std::string_view object) {
  ManifestTotals totals;
  ARROW_ASSIGN_OR_RAISE(totals.superfile_count, GetCount(value, "superfiles", object));
  ARROW_ASSIGN_OR_RAISE(totals.row_count, GetCount(value, "rows", object));
  ARROW_ASSIGN_OR_RAISE(totals.deleted_count, GetCount(value, "deleted", object));
  ARROW_ASSIGN_OR_RAISE(totals.size_bytes, GetCount(value, "bytes", object));
  ARROW_ASSIGN_OR_RAISE(const json* texts, GetArray(value, "texts", object));
  ARROW_ASSIGN_OR_RAISE(totals.texts, TextsFromJson(*texts, object));
  return totals;
}

/// Parts and versions are written as arrays: their keys would be half of a root, which every
/// commit writes twice.
json PartToJson(const PartRef& part) {
  const ManifestTotals& totals = part.totals;
  return json::array({part.object.hash.ToHex(), part.object.size_bytes, totals.superfile_count,
                      totals.row_count, totals.deleted_count, totals.size_bytes,
                      TextsToJson(totals.texts)});
}

arrow::Result<PartRef> PartFromJson(const json& value, std::string_view object) {
  JsonRow row(value, object);
  PartRef part;
  ARROW_ASSIGN_OR_RAISE(part.object.hash, row.NextHash());
  ARROW_ASSIGN_OR_RAISE(part.object.size_bytes, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(part.totals.superfile_count, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(part.totals.row_count, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(part.totals.deleted_count, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(part.totals.size_bytes, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(const json* texts, row.NextArray());
  ARROW_RETURN_NOT_OK(row.Finish());
  ARROW_ASSIGN_OR_RAISE(part.totals.texts, TextsFromJson(*texts, object));
  part.object.name = PartName(part.object.hash);
  return part;
}

json PointsToJson(const PointsRef& points) {
  return json::array({points.field_id, points.object.hash.ToHex(), points.object.size_bytes});
}

arrow::Result<PointsRef> PointsFromJson(const json& value, std::string_view object) {
  JsonRow row(value, object);
  PointsRef points;
  ARROW_ASSIGN_OR_RAISE(const int64_t field_id, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(points.object.hash, row.NextHash());
  ARROW_ASSIGN_OR_RAISE(points.object.size_bytes, row.NextCount());
  ARROW_RETURN_NOT_OK(row.Finish());
  if (field_id > std::numeric_limits<int32_t>::max()) {
    return CorruptObject(object, "reference points of no column");
  }
  points.field_id = static_cast<int32_t>(field_id);
  points.object.name = PointsName(points.object.hash);
  return points;
}

json VersionToJson(const VersionInfo& info) {
  const bool has_root = !info.root.name.empty();
  return json::array({info.version, info.unix_ms, info.operation, info.commit.ToHex(),
                      has_root ? info.root.hash.ToHex() : std::string(), info.root.size_bytes,
                      info.rows_added, info.rows_removed});
}

arrow::Result<VersionInfo> VersionFromJson(const json& value, std::string_view object) {
  JsonRow row(value, object);
  VersionInfo info;
  ARROW_ASSIGN_OR_RAISE(info.version, row.NextUint64());
  ARROW_ASSIGN_OR_RAISE(info.unix_ms, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(info.operation, row.NextString());
  ARROW_ASSIGN_OR_RAISE(const std::string commit, row.NextString());
  ARROW_ASSIGN_OR_RAISE(const std::string hash, row.NextString());
  ARROW_ASSIGN_OR_RAISE(info.root.size_bytes, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(info.rows_added, row.NextCount());
  ARROW_ASSIGN_OR_RAISE(info.rows_removed, row.NextCount());
  ARROW_RETURN_NOT_OK(row.Finish());
  auto id = CommitId::FromHex(commit);
  if (!id.ok()) return CorruptObject(object, "not a commit id in the history");
  info.commit = *id;
  if (hash.empty()) {
    if (info.root.size_bytes != 0) return CorruptObject(object, "size without a root in history");
    return info;
  }
  auto root = ContentHash::FromHex(hash);
  if (!root.ok()) return CorruptObject(object, "not a hash in the history");
  info.root.hash = *root;
  info.root.name = RootName(info.version, info.root.hash);
  return info;
}

json RefToJson(const ObjectRef& ref) {
  return {{"name", ref.name}, {"hash", ref.hash.ToHex()}, {"size", ref.size_bytes}};
}

arrow::Result<ObjectRef> RefFromJson(const json& value, std::string_view object) {
  ObjectRef ref;
  ARROW_ASSIGN_OR_RAISE(ref.name, GetString(value, "name", object));
  ARROW_ASSIGN_OR_RAISE(ref.hash, GetHash(value, "hash", object));
  ARROW_ASSIGN_OR_RAISE(ref.size_bytes, GetCount(value, "size", object));
  return ref;
}

arrow::Status ReadParts(const json& document, std::string_view object, ManifestRoot* root) {
  ARROW_ASSIGN_OR_RAISE(const json* totals, GetObject(document, "totals", object));
  ARROW_ASSIGN_OR_RAISE(root->totals, TotalsFromJson(*totals, object));
  ARROW_ASSIGN_OR_RAISE(const json* parts, GetArray(document, "parts", object));
  ManifestTotals sum;
  for (const json& in : *parts) {
    ARROW_ASSIGN_OR_RAISE(PartRef part, PartFromJson(in, object));
    if (!AddTotals(part.totals, &sum).ok()) {
      return CorruptObject(object, "the sum over the parts overflows");
    }
    root->parts.push_back(std::move(part));
  }
  if (sum != root->totals) return CorruptObject(object, "the parts don't add up to the totals");
  return arrow::Status::OK();
}

arrow::Status ReadPoints(const json& document, std::string_view object, ManifestRoot* root) {
  ARROW_ASSIGN_OR_RAISE(const json* lists, GetArray(document, "points", object));
  std::set<std::string> names;
  int32_t last_field_id = kIdFieldId;
  size_t of_column = 0;
  for (const json& in : *lists) {
    ARROW_ASSIGN_OR_RAISE(PointsRef points, PointsFromJson(in, object));
    const TableColumn* column = root->schema.FindById(points.field_id);
    if (column == nullptr || !column->vector) {
      return CorruptObject(object, "reference points of no vector column");
    }
    if (points.field_id < last_field_id) {
      return CorruptObject(object, "reference points out of order");
    }
    of_column = points.field_id == last_field_id ? of_column + 1 : 1;
    if (of_column > vector::VectorSpace::kListsMax) {
      return CorruptObject(object, "too many lists of reference points");
    }
    if (!names.insert(points.object.name).second) {
      return CorruptObject(object, "a list of reference points stands there twice");
    }
    last_field_id = points.field_id;
    root->points.push_back(std::move(points));
  }
  return arrow::Status::OK();
}

arrow::Status ReadHistory(const json& document, std::string_view object, ManifestRoot* root) {
  if (HasKey(document, "parent")) {
    ARROW_ASSIGN_OR_RAISE(const json* parent, GetObject(document, "parent", object));
    ARROW_ASSIGN_OR_RAISE(root->parent, RefFromJson(*parent, object));
  }
  ARROW_ASSIGN_OR_RAISE(const json* versions, GetArray(document, "versions", object));
  for (const json& in : *versions) {
    ARROW_ASSIGN_OR_RAISE(VersionInfo info, VersionFromJson(in, object));
    root->versions.push_back(std::move(info));
  }
  ARROW_ASSIGN_OR_RAISE(const json* removed, GetArray(document, "removed", object));
  JsonRow names(*removed, object);
  for (size_t i = 0; i < removed->size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(std::string name, names.NextString());
    root->removed.push_back(std::move(name));
  }
  ARROW_ASSIGN_OR_RAISE(const json* runs, GetArray(document, "term_index_runs", object));
  for (const json& in : *runs) {
    ARROW_ASSIGN_OR_RAISE(ObjectRef ref, RefFromJson(in, object));
    root->term_index_runs.push_back(std::move(ref));
  }
  return arrow::Status::OK();
}

/// The history starts with this version, has no gaps, and names every root but this one.
arrow::Status CheckHistory(const ManifestRoot& root, std::string_view object) {
  if (root.version == 0 || root.oldest_openable_version == 0 ||
      root.oldest_openable_version > root.version) {
    return CorruptObject(object, "bad version number");
  }
  if (root.versions.empty() || root.versions.size() > ManifestRoot::kVersionsMax ||
      root.versions.size() > root.version) {
    return CorruptObject(object, "bad length of the history");
  }
  for (size_t i = 0; i < root.versions.size(); ++i) {
    const VersionInfo& info = root.versions[i];
    if (info.version != root.version - i || info.root.name.empty() != (i == 0)) {
      return CorruptObject(object, "the history has a gap");
    }
  }
  const VersionInfo& newest = root.versions.front();
  if (newest.commit != root.commit || newest.unix_ms != root.unix_ms) {
    return CorruptObject(object, "the history does not start with this version");
  }
  if (root.parent.has_value() != (root.version > 1)) {
    return CorruptObject(object, "a parent is there for version 1, or missing");
  }
  if (!root.parent) return arrow::Status::OK();
  const bool is_named_right = root.parent->name == RootName(root.version - 1, root.parent->hash);
  if (!is_named_right || (root.versions.size() > 1 && root.versions[1].root != *root.parent)) {
    return CorruptObject(object, "the parent is not the version before");
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<ContentHash> HashOfSchema(const TableSchema& schema) {
  ARROW_ASSIGN_OR_RAISE(const json value, SchemaToJson(schema));
  return Blake3(AsBytes(FormatJson(value)));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> EncodeRoot(const ManifestRoot& root) {
  json document = StartDocument(kRootKind);
  document["version"] = root.version;
  document["commit"] = root.commit.ToHex();
  document["unix_ms"] = root.unix_ms;
  ARROW_ASSIGN_OR_RAISE(document["schema"], SchemaToJson(root.schema));
  document["schema_hash"] = root.schema_hash.ToHex();
  document["totals"] = TotalsToJson(root.totals);
  document["parent"] = root.parent ? RefToJson(*root.parent) : json();
  document["oldest_openable_version"] = root.oldest_openable_version;
  document["removed"] = root.removed;
  json& parts = document["parts"] = json::array();
  for (const PartRef& part : root.parts) parts.push_back(PartToJson(part));
  json& points = document["points"] = json::array();
  for (const PointsRef& list : root.points) points.push_back(PointsToJson(list));
  json& versions = document["versions"] = json::array();
  for (const VersionInfo& info : root.versions) versions.push_back(VersionToJson(info));
  json& runs = document["term_index_runs"] = json::array();
  for (const ObjectRef& run : root.term_index_runs) runs.push_back(RefToJson(run));
  return arrow::Buffer::FromString(FormatJson(document));
}

arrow::Result<ManifestRoot> DecodeRoot(const arrow::Buffer& bytes, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json document,
                        ParseDocument(std::string_view(bytes), kRootKind, object));
  ManifestRoot root;
  ARROW_ASSIGN_OR_RAISE(root.version, GetUint64(document, "version", object));
  ARROW_ASSIGN_OR_RAISE(root.commit, GetCommitId(document, "commit", object));
  ARROW_ASSIGN_OR_RAISE(root.unix_ms, GetCount(document, "unix_ms", object));
  ARROW_ASSIGN_OR_RAISE(root.schema_hash, GetHash(document, "schema_hash", object));
  ARROW_ASSIGN_OR_RAISE(root.oldest_openable_version,
                        GetUint64(document, "oldest_openable_version", object));
  ARROW_ASSIGN_OR_RAISE(const json* schema, GetObject(document, "schema", object));
  if (Blake3(AsBytes(FormatJson(*schema))) != root.schema_hash) {
    return CorruptObject(object, "the schema does not have its hash");
  }
  ARROW_ASSIGN_OR_RAISE(root.schema, SchemaFromJson(*schema, object));
  ARROW_RETURN_NOT_OK(ReadParts(document, object, &root));
  ARROW_RETURN_NOT_OK(ReadPoints(document, object, &root));
  ARROW_RETURN_NOT_OK(ReadHistory(document, object, &root));
  ARROW_RETURN_NOT_OK(CheckHistory(root, object));
  return root;
}

ObjectRef RefOfRoot(uint64_t version, const arrow::Buffer& bytes) {
  const ContentHash hash = Blake3(SpanOf(bytes));
  return {.name = RootName(version, hash), .hash = hash, .size_bytes = bytes.size()};
}

arrow::Status CheckContent(const ObjectRef& ref, const arrow::Buffer& bytes) {
  if (bytes.size() != ref.size_bytes) {
    return CorruptObject(ref.name, "unexpected length: expected=" + std::to_string(ref.size_bytes) +
                                       " got=" + std::to_string(bytes.size()));
  }
  if (Blake3(SpanOf(bytes)) != ref.hash) {
    return CorruptObject(ref.name, "the content does not have the hash in its name");
  }
  return arrow::Status::OK();
}

}  // namespace infino
