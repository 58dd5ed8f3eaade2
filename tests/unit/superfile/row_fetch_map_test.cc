#include "infino/superfile/row_fetch_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/superfile/superfile_reader.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

RowFetchMap SampleMap() {
  RowFetchMap map(Compression::kLz4);
  map.AddRowGroup(10, {{.dictionary = {.offset = 4, .length = 20},
                        .dictionary_checksum = 7,
                        .pages = {{.offset = 24, .length = 9, .first_row = 0, .checksum = 1},
                                  {.offset = 33, .length = 5, .first_row = 6, .checksum = 2}}},
                       {.dictionary = {},
                        .pages = {{.offset = 38, .length = 300, .first_row = 0, .checksum = 3}}}});
  map.AddRowGroup(
      1,
      {{.dictionary = {}, .pages = {{.offset = 338, .length = 1, .first_row = 0, .checksum = 4}}},
       {.dictionary = {}, .pages = {{.offset = 339, .length = 2, .first_row = 0, .checksum = 5}}}});
  return map;
}

constexpr RowFetchMap::Limits kSampleLimits{.row_count = 11, .body_length = 341, .leaf_count = 2};

TEST(RowFetchMap, ComesBackAsEncoded) {
  const RowFetchMap map = SampleMap();
  ByteWriter out;
  map.Encode(out);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto parsed,
                              RowFetchMap::Parse(out.bytes(), "map", kSampleLimits));
  EXPECT_EQ(parsed->compression(), Compression::kLz4);
  EXPECT_EQ(parsed->row_group_starts(), (std::vector<int64_t>{0, 10, 11}));
  for (int group = 0; group < 2; ++group) {
    for (int leaf = 0; leaf < 2; ++leaf) {
      EXPECT_EQ(parsed->Chunk(group, leaf), map.Chunk(group, leaf));
    }
  }
}

TEST(RowFetchMap, MapsThatDoNotFitTheFileAreCorrupt) {
  ByteWriter out;
  SampleMap().Encode(out);
  for (auto limits : {RowFetchMap::Limits{.row_count = 12, .body_length = 341, .leaf_count = 2},
                      RowFetchMap::Limits{.row_count = 10, .body_length = 341, .leaf_count = 2},
                      RowFetchMap::Limits{.row_count = 11, .body_length = 340, .leaf_count = 2},
                      RowFetchMap::Limits{.row_count = 11, .body_length = 341, .leaf_count = 3},
                      RowFetchMap::Limits{.row_count = 11, .body_length = 341, .leaf_count = 1}}) {
    EXPECT_THAT(RowFetchMap::Parse(out.bytes(), "map", limits), IsError(ErrorKind::kCorrupt));
  }
}

TEST(RowFetchMap, DamagedBytesAreCorruptOrAMapWithinTheFile) {
  ByteWriter out;
  SampleMap().Encode(out);
  const std::vector<uint8_t> bytes = out.Take();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> damaged = bytes;
      damaged[i] ^= static_cast<uint8_t>(1 << bit);
      const auto map = RowFetchMap::Parse(damaged, "map", kSampleLimits);
      if (!map.ok()) {
        EXPECT_THAT(map, IsError(ErrorKind::kCorrupt));
        continue;
      }
      for (int group = 0; group < (*map)->row_group_count(); ++group) {
        for (const PagePlace& page : (*map)->Chunk(group, 0).pages) {
          EXPECT_LE(page.offset + page.length, kSampleLimits.body_length);
        }
      }
    }
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(RowFetchMap::Parse(ByteSpan(bytes).first(length), "map", kSampleLimits),
                IsError(ErrorKind::kCorrupt));
  }
}

/// The map against what Parquet's own page index says of the finished file.
void ExpectAsInPageIndex(const BuiltSuperfile& built) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  if (superfile->row_map() == nullptr) {
    INFINO_ASSERT_OK_AND_ASSIGN(const Buffers bytes,
                                Wait(superfile->file().Read({superfile->row_map_place()})));
    INFINO_ASSERT_OK(superfile->SetRowMap(bytes.front()));
  }
  const RowFetchMap& map = *superfile->row_map();
  const auto file =
      parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(built.bytes));
  const auto metadata = file->metadata();
  ASSERT_EQ(map.row_group_count(), metadata->num_row_groups());
  int64_t row = 0;
  for (int group = 0; group < map.row_group_count(); ++group) {
    EXPECT_EQ(map.row_group_starts()[static_cast<size_t>(group)], row);
    row += metadata->RowGroup(group)->num_rows();
    const auto index = file->GetPageIndexReader()->RowGroup(group);
    for (int leaf = 1; leaf < metadata->num_columns(); ++leaf) {
      const ChunkPages& chunk = map.Chunk(group, leaf - 1);
      const auto column = metadata->RowGroup(group)->ColumnChunk(leaf);
      EXPECT_EQ(chunk.dictionary.length > 0, column->has_dictionary_page());
      if (chunk.dictionary.length > 0) {
        EXPECT_EQ(chunk.dictionary.offset, column->dictionary_page_offset());
      }
      const auto pages = index->GetOffsetIndex(leaf)->page_locations();
      ASSERT_EQ(chunk.pages.size(), pages.size());
      for (size_t i = 0; i < pages.size(); ++i) {
        EXPECT_EQ(chunk.pages[i].offset, pages[i].offset);
        EXPECT_EQ(chunk.pages[i].length, pages[i].compressed_page_size);
        EXPECT_EQ(chunk.pages[i].first_row, pages[i].first_row_index);
        EXPECT_EQ(chunk.pages[i].checksum,
                  Crc32c(ByteSpan(built.bytes->data() + pages[i].offset,
                                  static_cast<size_t>(pages[i].compressed_page_size))));
      }
    }
  }
}

TEST(RowFetchMap, SaysWhatThePageIndexSays) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(AllTypes());
  for (const Compression compression :
       {Compression::kZstd, Compression::kLz4, Compression::kNone}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                                BuildFrom(schema,
                                          {RandomBatch(schema.ToArrow(), 2900, random),
                                           RandomBatch(schema.ToArrow(), 1, random)},
                                          compression));
    ExpectAsInPageIndex(built);
  }
}

TEST(RowFetchMap, SaysSoForSeveralRowGroupsToo) {
  Random random(TestSeed());
  const TableSchema schema =
      SchemaOf({arrow::field("key", arrow::int64()), arrow::field("kind", arrow::int8()),
                arrow::field("tags", arrow::list(arrow::int32()))});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(schema, {RandomBatch(schema.ToArrow(), 140'000, random)}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  ExpectAsInPageIndex(built);
}

}  // namespace
}  // namespace infino
