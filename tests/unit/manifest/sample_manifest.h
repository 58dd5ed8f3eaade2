#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/type.h>

#include "infino/codec/bloom_filter.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/value_counts.h"

namespace infino {

/// A table of a text column with keyword index and an int64 column.
inline TableSchema SampleSchema() {
  TableSchema schema;
  schema.last_field_id = 2;
  TextIndexOptions text;
  text.stopwords = "english";
  text.k1 = 0.9;
  text.b = 0.4;
  schema.columns.push_back(
      {.field_id = 1, .field = arrow::field("body", arrow::large_utf8()), .text = text});
  schema.columns.push_back({.field_id = 2,
                            .field = arrow::field("row", arrow::int64(), /*nullable=*/false),
                            .text = std::nullopt});
  return schema;
}

/// The same table with a third column, field id 3, of vectors of 16 dimensions that have an index.
inline TableSchema VectorSampleSchema() {
  TableSchema schema = SampleSchema();
  schema.last_field_id = 3;
  TableColumn column{.field_id = 3,
                     .field = arrow::field("v", arrow::fixed_size_list(arrow::float32(), 16))};
  column.vector = TableVectorIndex{.column = {.dimension = 16,
                                              .metric = vector::VectorMetric::kL2Squared,
                                              .tier = vector::RerankTier::kFp16,
                                              .rotation_seed = 0xFEDCBA9876543210},
                                   .stored = true};
  schema.columns.push_back(std::move(column));
  return schema;
}

/// A list of random points of the column.
inline ReferencePoints RandomPoints(Random& random, int32_t field_id, size_t dimension = 16,
                                    size_t count = 4) {
  std::vector<float> values(dimension * count);
  for (float& value : values) value = static_cast<float>(random.Unit());
  return {.field_id = field_id,
          .list = vector::PointList::Make(dimension, std::move(values)).ValueOrDie(),
          .spread = random.Unit()};
}

inline std::string RandomBytes(Random& random, size_t length) {
  std::string bytes;
  bytes.reserve(length);
  uint64_t word = 0;
  for (size_t i = 0; i < length; ++i) {
    word = i % sizeof(word) == 0 ? random.Next() : word >> 8;
    bytes.push_back(static_cast<char>(word & 0xFF));
  }
  return bytes;
}

/// A superfile as an append of 1,000 rows gives it: statistics of `column_count` columns, the first
/// of them a text column with a filter as large as one over `filter_keys` terms (0: no filter);
/// with `count_values` counts of the second one.
inline NewSuperfile RandomSuperfile(Random& random, int column_count = 2, uint64_t filter_keys = 50,
                                    bool count_values = false) {
  constexpr int64_t kRowCount = 1000;
  NewSuperfile file;
  SuperfileEntry& entry = file.entry;
  entry.id = random.NextId<SuperfileId>();
  entry.size_bytes = 60'000 + static_cast<int64_t>(random.Below(30'000));
  entry.open_section = {.offset = entry.size_bytes - 9'000,
                        .length = 2'000 + static_cast<int64_t>(random.Below(500))};
  entry.footer = {.length = 1'000 + static_cast<int64_t>(random.Below(5'000)),
                  .checksum = static_cast<uint32_t>(random.Below(uint64_t{1} << 32))};
  entry.hash = Blake3(AsBytes(RandomBytes(random, 16)));
  entry.row_count = kRowCount;
  entry.min_id = {.high = 1'790'000'000'000 + random.Below(1'000'000'000),
                  .low = random.Below(uint64_t{1} << 40) << 24};
  entry.max_id = entry.min_id.Plus(static_cast<uint64_t>(kRowCount) - 1);
  entry.schema_id = 1;
  for (int32_t field_id = 1; field_id <= column_count; ++field_id) {
    const size_t width = field_id % 3 == 1 ? 32 : 8;
    ColumnStats stats;
    stats.field_id = field_id;
    stats.null_count = static_cast<int64_t>(random.Below(3));
    stats.has_bounds = random.Below(8) > 0;
    if (stats.has_bounds) {
      stats.min = RandomBytes(random, width);
      stats.max = RandomBytes(random, width);
      stats.min_exact = width == 8;
      stats.max_exact = width == 8;
    }
    stats.has_nan = random.Below(10) == 0;
    entry.columns.push_back(std::move(stats));
  }
  const auto token_total = 40'000 + static_cast<int64_t>(random.Below(10'000));
  entry.texts.push_back({.field_id = 1,
                         .rows_with_token = kRowCount - static_cast<int64_t>(random.Below(5)),
                         .token_total = token_total,
                         .term_count = 4'000 + static_cast<int64_t>(random.Below(1'000)),
                         .min_term = "0",
                         .max_term = "zz" + std::to_string(random.Below(1000))});
  if (filter_keys > 0) {
    // No manifest code looks into a filter.
    const auto size = static_cast<size_t>(BloomFilterBuilder::SizeBytes(filter_keys));
    file.filters.push_back(
        {.field_id = 1, .filter = arrow::Buffer::FromString(RandomBytes(random, size))});
  }
  if (count_values) {
    ValueCounts& counts = file.counts.emplace_back();
    counts.field_id = 2;
    for (char value = 'a'; value < 'a' + static_cast<char>(1 + random.Below(9)); ++value) {
      counts.values.push_back(
          {.value = std::string(8, value), .count = 1 + static_cast<int64_t>(random.Below(100))});
    }
  }
  return file;
}

/// A part with entries of several commits, some with tombstones, some with filters or counts.
inline ManifestPart RandomPart(Random& random, size_t entry_count) {
  ManifestPart part;
  part.commit = random.NextId<CommitId>();
  for (size_t i = 0; i < entry_count; ++i) {
    SuperfileEntry entry =
        RandomSuperfile(random, static_cast<int>(random.Below(5)), /*filter_keys=*/0).entry;
    entry.commit = random.NextId<CommitId>();
    if (random.Below(3) > 0) {
      if (part.summaries.empty() || random.Below(2) == 0) {
        ObjectRef summary;
        summary.hash = Blake3(AsBytes(RandomBytes(random, 8)));
        summary.name = SummaryName(summary.hash);
        summary.size_bytes = 5'000;
        part.summaries.push_back(summary);
      }
      const auto ordinal = static_cast<int32_t>(part.summaries.size()) - 1;
      entry.term_filters.push_back(
          {.field_id = 1,
           .summary = ordinal,
           .place = {.offset = static_cast<int64_t>(random.Below(4'000)), .length = 100},
           .checksum = static_cast<uint32_t>(random.Next())});
      if (random.Below(2) == 0) entry.term_filters.clear();
      if (entry.term_filters.empty() || random.Below(2) == 0) {
        entry.value_counts.push_back(
            {.field_id = 2,
             .summary = ordinal,
             .place = {.offset = static_cast<int64_t>(random.Below(4'000)), .length = 30},
             .checksum = static_cast<uint32_t>(random.Next())});
      }
    }
    if (random.Below(4) == 0) {
      TombstonesRef& tombstones = entry.tombstones.emplace();
      tombstones.object.hash = Blake3(AsBytes(RandomBytes(random, 8)));
      tombstones.object.name = TombstonesName(entry.id, entry.commit, tombstones.object.hash);
      tombstones.object.size_bytes = 40;
      tombstones.deleted_count = 1 + static_cast<int64_t>(random.Below(1'000));
    }
    part.entries.push_back(std::move(entry));
  }
  return part;
}

/// A version with the arguments that a change on top of it needs.
struct VersionHolder {
  NextVersion version;

  [[nodiscard]] BaseVersion base() const {
    return {.root = &version.root,
            .root_object = version.root_object,
            .parts = version.parts,
            .points = version.points};
  }
};

inline ManifestChange AppendOf(std::vector<NewSuperfile> files) {
  ManifestChange change;
  change.operation = "append";
  change.added = std::move(files);
  return change;
}

inline CommitStamp RandomStamp(Random& random) {
  return {.commit = random.NextId<CommitId>(),
          .unix_ms = 1'790'000'000'000 + static_cast<int64_t>(random.Below(1'000'000))};
}

/// What Verify is told that the store acknowledged.
inline std::vector<WrittenSuperfile> WrittenBy(const ManifestChange& change) {
  std::vector<WrittenSuperfile> written;
  for (const NewSuperfile& file : change.added) {
    written.push_back({.id = file.entry.id, .size_bytes = file.entry.size_bytes});
  }
  return written;
}

/// The ids of all superfiles, in order.
inline std::vector<SuperfileId> SuperfilesOf(const NextVersion& version) {
  std::vector<SuperfileId> ids;
  for (const auto& part : version.parts) {
    for (const SuperfileEntry& entry : part->entries) ids.push_back(entry.id);
  }
  return ids;
}

/// One copy of `bytes` with the byte at `at` changed.
inline std::shared_ptr<arrow::Buffer> WithByteChanged(const arrow::Buffer& bytes, size_t at,
                                                      uint8_t mask) {
  std::string copy(std::string_view{bytes});
  copy[at] = static_cast<char>(static_cast<uint8_t>(copy[at]) ^ mask);
  return arrow::Buffer::FromString(std::move(copy));
}

}  // namespace infino
