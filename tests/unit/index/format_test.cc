#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <arrow/array/builder_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using ::testing::ElementsAre;

/// The hexadecimal blocks of a document, in order.
std::vector<std::vector<uint8_t>> HexBlocksOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<uint8_t>> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```hex") {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      std::istringstream bytes(line.substr(0, line.find('#')));
      for (std::string byte; bytes >> byte;) {
        blocks.back().push_back(static_cast<uint8_t>(std::stoul(byte, nullptr, 16)));
      }
    }
  }
  return blocks;
}

const Corpus& Rows() {
  static const Corpus kRows = {"red fox red", std::nullopt, "fox"};
  return kRows;
}

TextIndexOptions WithPositions() {
  TextIndexOptions options;
  options.positions = true;
  return options;
}

std::vector<uint8_t> BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

std::string HexOf(const std::vector<uint8_t>& bytes) {
  return FormatHex(bytes);
}

TEST(TextIndexFormat, TheExampleOfTheDocumentIsWhatIsWritten) {
  const auto blocks = HexBlocksOf(INFINO_DOCS "/format/text-index.md");
  ASSERT_EQ(blocks.size(), 2);
  const BuiltIndex index = Build(Rows(), WithPositions());
  EXPECT_EQ(HexOf(BytesOf(*index.blob)), HexOf(blocks[0]));
  EXPECT_EQ(HexOf(BytesOf(*index.finished.open_part)), HexOf(blocks[1]));
}

TEST(TextIndexFormat, TheExampleOfTheDocumentIsRead) {
  const auto blocks = HexBlocksOf(INFINO_DOCS "/format/text-index.md");
  ASSERT_EQ(blocks.size(), 2);
  BuiltIndex index;
  index.blob = ToBuffer(blocks[0]);
  INFINO_ASSERT_OK_AND_ASSIGN(
      index.reader, TextIndexReader::Open(ToBuffer(blocks[1]), index.blob->size(), "example"));
  EXPECT_EQ(index.reader->summary().row_count, 3);
  EXPECT_EQ(index.reader->summary().rows_with_token, 2);
  EXPECT_EQ(index.reader->summary().token_total, 4);
  EXPECT_EQ(index.reader->analyzer().name, "standard");
  EXPECT_TRUE(index.reader->has_positions());
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto dictionary,
      DictionaryBlock::Open(*index.reader, *index.reader->inline_dictionary()));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto red, dictionary.Find("red"));
  ASSERT_TRUE(red.has_value());
  EXPECT_THAT(red->inline_positions, ElementsAre(0, 2));
  EXPECT_THAT(MatchAll(index, QueryOf("fox")), HasValue(ElementsAre(0, 2)));
  const Oracle oracle(Rows());
  EXPECT_THAT(Rank(index, QueryOf("red fox"), {}),
              HasValue(oracle.Rank(QueryOf("red fox"), 1.2, 0.75, 10)));
}

TEST(TextIndexFormat, EqualRowsGiveEqualBytes) {
  Random random(5);
  const Corpus corpus = RandomCorpus(random, {.rows = 500});
  const BuiltIndex one = Build(corpus, WithPositions());
  const BuiltIndex other = Build(corpus, WithPositions());
  EXPECT_TRUE(one.blob->Equals(*other.blob));
  EXPECT_TRUE(one.finished.open_part->Equals(*other.finished.open_part));
}

TEST(TextIndexFormat, AllTextTypesGiveTheSameIndex) {
  const BuiltIndex large = Build(Rows());
  arrow::StringBuilder strings;
  arrow::StringViewBuilder views;
  for (const auto& text : Rows()) {
    INFINO_ASSERT_OK(text.has_value() ? strings.Append(*text) : strings.AppendNull());
    INFINO_ASSERT_OK(text.has_value() ? views.Append(*text) : views.AppendNull());
  }
  for (arrow::ArrayBuilder* builder :
       {static_cast<arrow::ArrayBuilder*>(&strings), static_cast<arrow::ArrayBuilder*>(&views)}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto column, builder->Finish());
    INFINO_ASSERT_OK_AND_ASSIGN(const auto index, TextIndexBuilder::Make({}, SuperfileId{}));
    INFINO_ASSERT_OK(index->Add(*column));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto sink, arrow::io::BufferOutputStream::Create());
    INFINO_ASSERT_OK_AND_ASSIGN(const auto finished, index->Finish(*sink, {}));
    EXPECT_TRUE(finished.open_part->Equals(*large.finished.open_part));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto index, TextIndexBuilder::Make({}, SuperfileId{}));
  arrow::Int64Builder numbers;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto column, numbers.Finish());
  EXPECT_THAT(index->Add(*column), IsError(ErrorKind::kInvalidArgument));
}

TEST(TextIndexFormat, ADocumentsLengthCountsEveryToken) {
  // Some 5,000 documents, so that there are two chunks of lengths, of different widths.
  Corpus corpus(5000, "a");
  std::string text;
  for (int i = 0; i < 70'000; ++i) text += "b ";
  corpus[4999] = text;
  const BuiltIndex index = Build(corpus);
  ASSERT_EQ(index.reader->length_chunks().size(), 2);
  EXPECT_EQ(index.reader->length_chunks()[0].width, 1);
  EXPECT_EQ(index.reader->length_chunks()[1].width, 17);
  const Oracle oracle(corpus);
  EXPECT_THAT(Rank(index, QueryOf("a b"), {.k = 6000}),
              HasValue(oracle.Rank(QueryOf("a b"), 1.2, 0.75, 6000)));
}

}  // namespace
}  // namespace infino::text
