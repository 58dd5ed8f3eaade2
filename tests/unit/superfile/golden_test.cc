// The kept file of this format version: written anew it is the same to the byte, and it still
// opens. INFINO_WRITE_GOLDEN=1 writes it, for a change of the format that its document goes along
// with.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "support/matchers.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

constexpr char kGoldenFile[] = INFINO_GOLDEN "/superfile-v0.parquet";
constexpr int kRows = 60;

TableSchema GoldenSchema() {
  return SchemaOf(
      {arrow::field("text", arrow::large_utf8()), arrow::field("number", arrow::int64(), false),
       arrow::field("kind", arrow::utf8()), arrow::field("tags", arrow::list(arrow::utf8()))});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> GoldenRows() {
  const std::vector<std::string> words = {"fox",   "dog",    "Käse",  "lazy",
                                          "brown", "日本語", "search"};
  arrow::LargeStringBuilder text;
  arrow::Int64Builder number;
  arrow::StringBuilder kind;
  auto tag = std::make_shared<arrow::StringBuilder>();
  arrow::ListBuilder tags(arrow::default_memory_pool(), tag);
  for (int i = 0; i < kRows; ++i) {
    const auto word = [&](int step) { return words[static_cast<size_t>((i * step) % 7)]; };
    ARROW_RETURN_NOT_OK(i % 10 == 9 ? text.AppendNull()
                                    : text.Append(word(1) + " " + word(3) + ", " + word(i)));
    ARROW_RETURN_NOT_OK(number.Append(int64_t{i} * i * 1'000'003 - 500));
    ARROW_RETURN_NOT_OK(kind.Append(i % 3 == 0 ? "first" : "second"));
    ARROW_RETURN_NOT_OK(i % 7 == 6 ? tags.AppendNull() : tags.Append());
    for (int j = 0; i % 7 != 6 && j < i % 4; ++j) ARROW_RETURN_NOT_OK(tag->Append(word(j + 2)));
  }
  arrow::ArrayVector columns(4);
  ARROW_RETURN_NOT_OK(text.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(number.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(kind.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(tags.Finish(&columns[3]));
  return arrow::RecordBatch::Make(GoldenSchema().ToArrow(), kRows, std::move(columns));
}

TEST(GoldenSuperfile, IsWrittenTheSameAndOpens) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, GoldenRows());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(GoldenSchema(), {rows}));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in a test changes the environment
  if (std::getenv("INFINO_WRITE_GOLDEN") != nullptr) {
    std::ofstream(kGoldenFile, std::ios::binary) << std::string_view(*built.bytes);
  }
  std::ifstream file(kGoldenFile, std::ios::binary);
  ASSERT_TRUE(file.good()) << kGoldenFile;
  const std::string kept{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(kept == std::string_view(*built.bytes))
      << "bytes written differ from " << kGoldenFile << ": lengths " << built.bytes->size()
      << " and " << kept.size();

  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenAlone(arrow::Buffer::FromString(kept)));
  INFINO_EXPECT_OK(VerifySuperfile(*superfile));
  ASSERT_EQ(superfile->row_count(), kRows);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto fetched, FetchRows(*superfile, {59, 0, 13}, {1, 2, 3, 4}));
  for (int i = 0; i < rows->num_columns(); ++i) {
    EXPECT_TRUE(fetched->column(i)->Equals(*TakeRows({rows->column(i)}, {59, 0, 13})));
  }
}

}  // namespace
}  // namespace infino
