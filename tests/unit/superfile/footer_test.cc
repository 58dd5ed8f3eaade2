// What other readers of Parquet find in the footer.

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/schema.h>
#include <parquet/statistics.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

class SuperfileFooter : public testing::Test {
 protected:
  void SetUp() override {
    Random random(TestSeed());
    schema_ = SchemaOf({arrow::field("text", arrow::large_utf8()),
                        arrow::field("score", arrow::int32(), false),
                        arrow::field("hidden", arrow::large_utf8())});
    TextIndexOptions hidden;
    hidden.stored = false;
    hidden.k1 = 0.9;
    hidden.b = 0.4;
    hidden.stemmer = "english";
    schema_.columns[2].text = hidden;
    INFINO_ASSERT_OK_AND_ASSIGN(built_,
                                BuildFrom(schema_, {RandomBatch(schema_.ToArrow(), 500, random)}));
    file_ =
        parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(built_.bytes));
  }

  [[nodiscard]] std::string Key(const std::string& key) const {
    return file_->metadata()->key_value_metadata()->Get(key).ValueOr("absent");
  }

  TableSchema schema_;
  BuiltSuperfile built_;
  std::unique_ptr<parquet::ParquetFileReader> file_;
};

TEST_F(SuperfileFooter, NamesTheFileAndItsOpenSection) {
  EXPECT_EQ(Key("inf.format"), "infino-superfile");
  EXPECT_EQ(Key("inf.format_version"), "0");
  EXPECT_EQ(Key("inf.builder").substr(0, 7), "infino/");
  EXPECT_EQ(Key("inf.id"), built_.summary.id.ToHex());
  EXPECT_EQ(Key("inf.id_column"), "_id");
  EXPECT_EQ(Key("inf.rows"), "500");
  EXPECT_EQ(Key("inf.open.offset"), std::to_string(built_.summary.open_section.offset));
  EXPECT_EQ(Key("inf.open.length"), std::to_string(built_.summary.open_section.length));
}

TEST_F(SuperfileFooter, NamesEveryRegionWithItsChecksum) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built_));
  ASSERT_EQ(superfile->regions().size(), 2U);
  for (const SuperfileRegion& region : superfile->regions()) {
    const std::string prefix = "inf." + region.name;
    EXPECT_EQ(Key(prefix + ".offset"), std::to_string(region.place.offset));
    EXPECT_EQ(Key(prefix + ".length"), std::to_string(region.place.length));
    EXPECT_EQ(Key(prefix + ".format_version"), "0");
    EXPECT_EQ(Key(prefix + ".checksum"), std::to_string(region.checksum));
    EXPECT_EQ(region.checksum, Crc32c(ByteSpan(built_.bytes->data() + region.place.offset,
                                               static_cast<size_t>(region.place.length))));
  }
}

TEST_F(SuperfileFooter, TellsHowTextIsIndexed) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto columns, ParseJson(Key("inf.text.columns"), "footer"));
  ASSERT_EQ(columns.size(), 2U);
  EXPECT_EQ(columns[0]["name"], "text");
  EXPECT_EQ(columns[0]["field_id"], 1);
  EXPECT_EQ(columns[0]["stored"], true);
  EXPECT_EQ(columns[1]["stored"], false);
  EXPECT_EQ(columns[1]["stemmer"], "english");
  EXPECT_EQ(columns[1]["k1"], 0.9);
}

TEST_F(SuperfileFooter, HasIdFirstFieldIdsAndArrowSchema) {
  const parquet::SchemaDescriptor& schema = *file_->metadata()->schema();
  ASSERT_EQ(schema.num_columns(), 3);
  EXPECT_EQ(schema.Column(0)->name(), "_id");
  EXPECT_EQ(schema.Column(0)->physical_type(), parquet::Type::FIXED_LEN_BYTE_ARRAY);
  EXPECT_EQ(schema.Column(0)->type_length(), 16);
  EXPECT_EQ(schema.Column(0)->schema_node()->field_id(), 0);
  EXPECT_EQ(schema.Column(1)->name(), "text");
  EXPECT_EQ(schema.Column(1)->schema_node()->field_id(), 1);
  EXPECT_EQ(schema.Column(2)->schema_node()->field_id(), 2);
  EXPECT_NE(Key("ARROW:schema"), "absent");
}

TEST_F(SuperfileFooter, HasStatisticsAndPageIndex) {
  const auto column = file_->metadata()->RowGroup(0)->ColumnChunk(2);
  ASSERT_TRUE(column->is_stats_set());
  EXPECT_TRUE(column->statistics()->HasMinMax());
  EXPECT_NE(file_->GetPageIndexReader()->RowGroup(0)->GetColumnIndex(2), nullptr);
  EXPECT_NE(file_->GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(1), nullptr);
}

TEST_F(SuperfileFooter, IsTheEndOfTheFileThatTheManifestHasAChecksumOf) {
  const ParquetFooter& footer = built_.summary.footer;
  EXPECT_EQ(footer.length, int64_t{file_->metadata()->size()} + 8);
  const auto bytes = arrow::SliceBuffer(built_.bytes, built_.bytes->size() - footer.length);
  EXPECT_EQ(footer.checksum, Crc32c({bytes->data(), static_cast<size_t>(bytes->size())}));
}

TEST_F(SuperfileFooter, LeadsToTheSameFileAsTheManifest) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto alone, OpenAlone(built_.bytes));
  EXPECT_EQ(alone->id(), built_.summary.id);
  EXPECT_EQ(alone->open_section(), built_.summary.open_section);
  EXPECT_EQ(alone->row_count(), 500);
  EXPECT_NE(alone->text_index(1), nullptr);
  EXPECT_NE(alone->text_index(3), nullptr);
  EXPECT_EQ(alone->text_index(2), nullptr);
  EXPECT_GT(alone->memory_bytes(), 0);
}

TEST(OpenedAlone, AnotherParquetFileIsCorrupt) {
  EXPECT_THAT(OpenAlone(arrow::Buffer::FromString("PAR1 no parquet PAR1")),
              IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(OpenAlone(arrow::Buffer::FromString("")), IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
