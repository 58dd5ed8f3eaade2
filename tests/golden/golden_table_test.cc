#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/connection.h"
#include "infino/search.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

// A whole folder as format version 0 has it: catalog, pointer, roots, parts, summaries, superfiles.
// INFINO_WRITE_GOLDEN=1 writes it anew, which only a change of the format's documents may ask for.
const std::string kFolder = std::string(INFINO_GOLDEN) + "/v0/table";

const std::vector<NullableText> kFirst{"the quick brown fox", "a lazy dog", std::nullopt};
const std::vector<NullableText> kSecond{"the fox and the dog and the fox", "", "Ünïcode dog"};

void WriteGolden() {
  std::filesystem::remove_all(kFolder);
  const auto connection = Connect(kFolder).ValueOrDie();
  const auto table =
      connection->CreateTable("notes", RowTextSchema(), TextIndex({.positions = true}))
          .ValueOrDie();
  MustSucceed(table->Append(ReaderOf(kFirst)).status());
  MustSucceed(table->Append(ReaderOf(kSecond, 3)).status());
}

// The same for a table whose schema has changed: its first superfile lacks columns and has others
// of narrower types and other names than the table.
const std::string kEvolvedFolder = std::string(INFINO_GOLDEN) + "/v0/evolved";

std::shared_ptr<arrow::RecordBatch> WithColumn(const std::string& name,
                                               const std::shared_ptr<arrow::Array>& values,
                                               std::span<const NullableText> texts,
                                               int64_t first_row) {
  return RowsOf(texts, first_row)->AddColumn(2, name, values).ValueOrDie();
}

void WriteEvolvedGolden() {
  std::filesystem::remove_all(kEvolvedFolder);
  const auto connection = Connect(kEvolvedFolder).ValueOrDie();
  const auto table = connection->CreateTable("notes", RowTextSchema(), TextIndex()).ValueOrDie();
  const auto small = arrow::json::ArrayFromJSONString(arrow::int8(), "[1, null, -3]").ValueOrDie();
  MustSucceed(table->Append(ReaderOf(WithColumn("count", small, kFirst, 0))).status());
  MustSucceed(connection
                  ->EvolveSchema("notes", R"({"fields": [
      {"name": "gone", "type": "date32"},
      {"name": "tag", "type": "utf8", "index": {"kind": "fts"}},
      {"name": "count", "type": "f64"}]})")
                  .status());
  MustSucceed(connection
                  ->EvolveSchema("notes", R"({"fields": [{"name": "gone", "dropped": true},
                                                      {"id": 2, "name": "words"}]})")
                  .status());
  auto batch = RowsOf(kSecond, 3)->RenameColumns({"row", "words"}).ValueOrDie();
  const auto tags = arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["red", "", "blue"])");
  batch = batch->AddColumn(2, "tag", *tags).ValueOrDie();
  MustSucceed(table->Append(ReaderOf(batch)).status());
}

class GoldenTable : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (std::getenv("INFINO_WRITE_GOLDEN") != nullptr) WriteGolden();
    if (std::getenv("INFINO_WRITE_GOLDEN") != nullptr) WriteEvolvedGolden();
  }

  void SetUp() override {
    std::filesystem::copy(kFolder, copy_.path() + "/table",
                          std::filesystem::copy_options::recursive);
    connection_ = Connect(copy_.path() + "/table").ValueOrDie();
    table_ = connection_->OpenTable("notes").ValueOrDie();
  }

  std::shared_ptr<arrow::Table> Search(const std::string& query) {
    TextSearchRequest request;
    request.column = "text";
    request.query = query;
    request.projection = {"row", "text", "score"};
    return table_->Search(request).ValueOrDie();
  }

  TemporaryFolder copy_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Table> table_;
};

/// One term's share of BM25 in these five texts of 4, 3, 8, 0 and 2 words, and a null.
float Share(double document_frequency, double frequency, double length) {
  const double rows = 4;
  const double average = (4 + 3 + 8 + 2) / rows;
  const double idf = std::log(1 + (rows - document_frequency + 0.5) / (document_frequency + 0.5));
  return static_cast<float>(idf * frequency /
                            (frequency + 1.2 * (1 - 0.75 + 0.75 * length / average)));
}

TEST_F(GoldenTable, IsFoundByItsWords) {
  const auto hits = Search("fox");
  EXPECT_EQ(Int64Column(*hits, "row"), (std::vector<int64_t>{3, 0}));
  EXPECT_THAT(FloatColumn(*hits, "score"), ::testing::ElementsAre(Share(2, 2, 8), Share(2, 1, 4)));
  EXPECT_EQ(TextColumn(*hits, "text"), (std::vector<NullableText>{kSecond[0], kFirst[0]}));
  EXPECT_EQ(Int64Column(*Search("ünïcode"), "row"), (std::vector<int64_t>{5}));
}

TEST_F(GoldenTable, HasItsRowsAndCounts) {
  INFINO_ASSERT_OK_AND_ASSIGN(const TableStats stats, table_->Stats());
  EXPECT_EQ(stats.rows, 6U);
  EXPECT_EQ(stats.superfiles, 2U);
  EXPECT_EQ(stats.version, 3U);
  EXPECT_THAT(table_->Count({.column = "text", .query = "dog", .stop = {}}), HasValue(3U));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto schema, table_->GetSchema());
  EXPECT_TRUE(schema->Equals(*RowTextSchema()));
}

TEST_F(GoldenTable, OfAChangedSchemaIsReadThroughIt) {
  std::filesystem::copy(kEvolvedFolder, copy_.path() + "/evolved",
                        std::filesystem::copy_options::recursive);
  const auto connection = Connect(copy_.path() + "/evolved").ValueOrDie();
  const auto table = connection->OpenTable("notes").ValueOrDie();
  MatchRequest request;
  request.column = "words";
  request.query = "fox dog";
  request.projection = {"row", "count", "tag"};
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, table->TokenMatch(request));
  EXPECT_EQ(Int64Column(*rows, "row"), (std::vector<int64_t>{0, 1, 3, 5}));
  const auto expect = [&](int column, const std::shared_ptr<arrow::DataType>& type,
                          const std::string& json) {
    const auto values = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
    EXPECT_TRUE(rows->column(column)->Equals(arrow::ChunkedArray(values)))
        << rows->column(column)->ToString();
  };
  expect(1, arrow::float64(), "[1, null, null, null]");
  expect(2, arrow::utf8(), R"([null, null, "red", "blue"])");
  EXPECT_THAT(table->Count({.column = "tag", .query = "blue", .stop = {}}), HasValue(1U));
  INFINO_ASSERT_OK_AND_ASSIGN(const std::string document, connection->GetSchemaDocument("notes"));
  EXPECT_THAT(document, ::testing::HasSubstr(R"("schema_id":4,"tombstoned":[3])"));
  // The id of a column that an append added is made from its name.
  EXPECT_THAT(document, ::testing::HasSubstr(R"({"id":1517525734,"name":"count")"));
}

TEST_F(GoldenTable, CanBeWrittenOn) {
  const std::vector<NullableText> more{"another dog"};
  INFINO_ASSERT_OK(table_->Append(ReaderOf(more, 6)).status());
  EXPECT_THAT(table_->Count({.column = "text", .query = "dog", .stop = {}}), HasValue(4U));
  EXPECT_THAT(connection_->ListTables(), HasValue(::testing::ElementsAre("notes")));
}

}  // namespace
}  // namespace infino
