#include "infino/superfile/superfile_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/superfile/block_checksums.h"
#include "infino/superfile/id_map.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/open_section.h"
#include "infino/superfile/page_dictionaries.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

/// What decoded dictionaries may take: this much, and no more than a multiple of what they take in
/// the file.
constexpr int64_t kDictionaryBytesMax = int64_t{256} << 10;
constexpr int64_t kDictionaryGrowth = 16;

ByteSpan SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

class OpenedSuperfile final : public SuperfileReader {
 public:
  OpenedSuperfile(std::shared_ptr<const RangeReader> file, ByteRange place,
                  std::shared_ptr<arrow::Buffer> bytes, const SuperfileId& expected)
      : name_("superfile " + expected.ToHex()),
        place_(place),
        file_(std::move(file)),
        bytes_(std::move(bytes)) {}

  arrow::Status Parse(const SuperfileId& expected) {
    ARROW_ASSIGN_OR_RAISE(section_, ParseOpenSection(SpanOf(*bytes_), place_, name_));
    if (section_.id != expected) {
      return Corrupt("its open section is of superfile " + section_.id.ToHex());
    }
    if (place_.end() > file_->size()) return Corrupt("open section ends behind the file");
    ARROW_RETURN_NOT_OK(ParseSchema());
    ARROW_ASSIGN_OR_RAISE(const OpenPart* id_part, RequirePart(PartKind::kIdMap));
    ByteReader ids(id_part->bytes, name_);
    ARROW_ASSIGN_OR_RAISE(ids_, IdMap::Parse(ids, section_.row_count));
    if (!ids.AtEnd()) return ids.Corrupt("id map: bytes behind the end");
    ARROW_ASSIGN_OR_RAISE(const OpenPart* blocks_part, RequirePart(PartKind::kBlockChecksums));
    ByteReader blocks(blocks_part->bytes, name_);
    ARROW_ASSIGN_OR_RAISE(blocks_, BlockChecksums::Parse(blocks, section_.body_length));
    ARROW_RETURN_NOT_OK(OpenTexts());
    ARROW_RETURN_NOT_OK(OpenVectors());
    for (const OpenRegion& region : section_.regions) {
      regions_.push_back({.name = RegionName(region.kind, region.field_id),
                          .place = region.place,
                          .checksum = region.checksum});
    }
    return OpenRowMap();
  }

  [[nodiscard]] const SuperfileId& id() const override { return section_.id; }

  [[nodiscard]] int64_t row_count() const override { return section_.row_count; }

  [[nodiscard]] const RangeReader& file() const override { return *file_; }

  [[nodiscard]] const std::string& name() const override { return name_; }

  [[nodiscard]] RowId IdOf(DocId doc) const override { return ids_.IdOf(doc); }

  [[nodiscard]] std::optional<DocId> FindId(const RowId& id) const override {
    return ids_.Find(id);
  }

  [[nodiscard]] std::vector<int32_t> text_field_ids() const override {
    std::vector<int32_t> ids;
    for (const auto& [field_id, text] : texts_) ids.push_back(field_id);
    return ids;
  }

  [[nodiscard]] const text::TextIndexReader* text_index(int32_t field_id) const override {
    const auto found = texts_.find(field_id);
    return found == texts_.end() ? nullptr : found->second.index.get();
  }

  [[nodiscard]] const RangeReader& text_blob(int32_t field_id) const override {
    return *texts_.find(field_id)->second.blob;
  }

  [[nodiscard]] std::vector<int32_t> vector_field_ids() const override {
    std::vector<int32_t> ids;
    for (const auto& [field_id, vectors] : vectors_) ids.push_back(field_id);
    return ids;
  }

  [[nodiscard]] const vector::VectorIndexReader* vector_index(int32_t field_id) const override {
    const auto found = vectors_.find(field_id);
    return found == vectors_.end() ? nullptr : found->second.index.get();
  }

  [[nodiscard]] const RangeReader& vector_blob(int32_t field_id) const override {
    return *vectors_.find(field_id)->second.blob;
  }

  [[nodiscard]] const std::shared_ptr<arrow::Schema>& file_schema() const override {
    return schema_;
  }

  [[nodiscard]] const std::vector<SuperfileRegion>& regions() const override { return regions_; }

  [[nodiscard]] std::shared_ptr<const RowFetchMap> row_map() const override {
    const std::lock_guard lock(row_map_mutex_);
    return row_map_;
  }

  [[nodiscard]] ByteRange row_map_place() const override {
    const OpenRegion* region = section_.FindRegion(RegionKind::kRowMap);
    return region == nullptr ? ByteRange() : region->place;
  }

  [[nodiscard]] arrow::Status SetRowMap(std::shared_ptr<arrow::Buffer> bytes) const override {
    const OpenRegion* region = section_.FindRegion(RegionKind::kRowMap);
    if (region == nullptr || bytes == nullptr || bytes->size() != region->place.length) {
      return MakeError(ErrorKind::kInternal, name_ + ": bytes fed are not the row map");
    }
    if (Crc32c(SpanOf(*bytes)) != region->checksum) {
      return Corrupt("row map has a wrong checksum, offset=" +
                     std::to_string(region->place.offset));
    }
    ARROW_ASSIGN_OR_RAISE(auto map, RowFetchMap::Parse(SpanOf(*bytes), name_, RowMapLimits()));
    const std::lock_guard lock(row_map_mutex_);
    if (row_map_ == nullptr) row_map_ = std::move(map);
    return arrow::Status::OK();
  }

  [[nodiscard]] PageDictionaries& dictionaries() const override { return *dictionaries_; }

  [[nodiscard]] const BlockChecksums& block_checksums() const override { return blocks_; }

  [[nodiscard]] const ByteRange& open_section() const override { return place_; }

  [[nodiscard]] int64_t memory_bytes() const override {
    // The text indexes count their open parts, which are views of `bytes_`.
    int64_t total = bytes_->size() + ids_.memory_bytes() + dictionaries_->budget_bytes();
    for (const auto& [field_id, text] : texts_) {
      const OpenPart* part = section_.FindPart(PartKind::kText, field_id);
      total += text.index->memory_bytes() - static_cast<int64_t>(part->bytes.size());
    }
    for (const auto& [field_id, vectors] : vectors_) total += vectors.index->memory_bytes();
    const std::shared_ptr<const RowFetchMap> map = row_map();
    // The bounds of pages take about as much as their places.
    return total + (map == nullptr ? 0 : 2 * map->memory_bytes());
  }

 private:
  struct Text {
    std::shared_ptr<const text::TextIndexReader> index;
    std::unique_ptr<const RangeReader> blob;
  };

  struct Vectors {
    std::shared_ptr<const vector::VectorIndexReader> index;
    std::unique_ptr<const RangeReader> blob;
  };

  [[nodiscard]] arrow::Status Corrupt(const std::string& what) const {
    return MakeError(ErrorKind::kCorrupt, name_ + ": " + what);
  }

  [[nodiscard]] arrow::Result<const OpenPart*> RequirePart(PartKind kind) const {
    const OpenPart* part = section_.FindPart(kind);
    if (part != nullptr) return part;
    return Corrupt("open section lacks part " + std::to_string(static_cast<int>(kind)));
  }

  [[nodiscard]] std::shared_ptr<arrow::Buffer> BufferOf(ByteSpan part) const {
    return arrow::SliceBuffer(bytes_, part.data() - bytes_->data(),
                              static_cast<int64_t>(part.size()));
  }

  arrow::Status ParseSchema() {
    ARROW_ASSIGN_OR_RAISE(const OpenPart* part, RequirePart(PartKind::kSchema));
    arrow::io::BufferReader stream(BufferOf(part->bytes));
    arrow::ipc::DictionaryMemo memo;
    const auto schema = arrow::ipc::ReadSchema(&stream, &memo);
    if (!schema.ok()) return Corrupt("schema: " + schema.status().message());
    schema_ = *schema;
    if (schema_->num_fields() == 0 || !schema_->field(0)->Equals(*IdField())) {
      return Corrupt("schema: the first column is not _id");
    }
    std::set<int32_t> field_ids;
    for (const auto& field : schema_->fields()) {
      const std::optional<int32_t> field_id = FieldIdOf(*field);
      if (!field_id || !field_ids.insert(*field_id).second) {
        return Corrupt("schema: column '" + field->name() + "' has no field id of its own");
      }
    }
    return FieldIdOf(*schema_->field(0)) == kIdFieldId ? arrow::Status::OK()
                                                       : Corrupt("schema: field id of _id");
  }

  arrow::Status OpenTexts() {
    for (const OpenRegion& region : section_.regions) {
      if (region.kind != RegionKind::kText) continue;
      const OpenPart* part = section_.FindPart(PartKind::kText, region.field_id);
      const std::string what = "text index of column " + std::to_string(region.field_id);
      if (part == nullptr) return Corrupt(what + " has no open part");
      Text text;
      ARROW_ASSIGN_OR_RAISE(text.index,
                            text::TextIndexReader::Open(BufferOf(part->bytes), region.place.length,
                                                        what + " in " + name_));
      if (text.index->summary().row_count != section_.row_count) {
        return Corrupt(what + " has another row count");
      }
      text.blob = std::make_unique<SubrangeReader>(file_, region.place);
      if (!texts_.emplace(region.field_id, std::move(text)).second) {
        return Corrupt(what + " is there twice");
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status OpenVectors() {
    for (const OpenRegion& region : section_.regions) {
      if (region.kind != RegionKind::kVector) continue;
      const OpenPart* part = section_.FindPart(PartKind::kVector, region.field_id);
      const std::string what = "vector index of column " + std::to_string(region.field_id);
      if (part == nullptr) return Corrupt(what + " has no open part");
      Vectors vectors;
      ARROW_ASSIGN_OR_RAISE(
          vectors.index, vector::VectorIndexReader::Open(BufferOf(part->bytes), region.place.length,
                                                         what + " in " + name_));
      if (int64_t{vectors.index->row_count()} != section_.row_count) {
        return Corrupt(what + " has another row count");
      }
      vectors.blob = std::make_unique<SubrangeReader>(file_, region.place);
      if (!vectors_.emplace(region.field_id, std::move(vectors)).second) {
        return Corrupt(what + " is there twice");
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status OpenRowMap() {
    const OpenPart* part = section_.FindPart(PartKind::kRowMap);
    int64_t dictionary_budget = kDictionaryBytesMax;
    if (part != nullptr) {
      ARROW_ASSIGN_OR_RAISE(row_map_, RowFetchMap::Parse(part->bytes, name_, RowMapLimits()));
      dictionary_budget =
          std::min(dictionary_budget, row_map_->dictionary_bytes() * kDictionaryGrowth);
    }
    dictionaries_ = std::make_unique<PageDictionaries>(dictionary_budget);
    if (part != nullptr) return arrow::Status::OK();
    if (section_.FindRegion(RegionKind::kRowMap) != nullptr) return arrow::Status::OK();
    return Corrupt("there is no row map");
  }

  [[nodiscard]] RowFetchMap::Limits RowMapLimits() const {
    int leaf_count = 0;
    for (const auto& field : schema_->fields()) leaf_count += LeafCount(*field->type());
    return {.row_count = section_.row_count,
            .body_length = section_.body_length,
            .leaf_count = leaf_count - 1};
  }

  std::string name_;
  ByteRange place_;
  std::shared_ptr<const RangeReader> file_;
  std::shared_ptr<arrow::Buffer> bytes_;
  OpenSection section_;  // its parts are views of bytes_
  std::shared_ptr<arrow::Schema> schema_;
  IdMap ids_;
  BlockChecksums blocks_;
  std::map<int32_t, Text> texts_;
  std::map<int32_t, Vectors> vectors_;
  std::vector<SuperfileRegion> regions_;

  std::unique_ptr<PageDictionaries> dictionaries_;
  mutable std::mutex row_map_mutex_;
  mutable std::shared_ptr<const RowFetchMap> row_map_;
};

}  // namespace

arrow::Result<std::shared_ptr<const SuperfileReader>> SuperfileReader::Open(
    std::shared_ptr<const RangeReader> file, ByteRange place,
    std::shared_ptr<arrow::Buffer> open_section, const SuperfileId& expected) {
  if (open_section->size() != place.length) {
    return MakeError(ErrorKind::kCorrupt, "superfile " + expected.ToHex() +
                                              ": open section is cut short, length=" +
                                              std::to_string(open_section->size()) +
                                              ", expected=" + std::to_string(place.length));
  }
  auto opened =
      std::make_shared<OpenedSuperfile>(std::move(file), place, std::move(open_section), expected);
  ARROW_RETURN_NOT_OK(opened->Parse(expected));
  return opened;
}

}  // namespace infino
