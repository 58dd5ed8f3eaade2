// Whole pages that are decoded for scans hold the rows that fetches decode one by one.

#include "infino/superfile/page_values.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/options.h"
#include "infino/superfile/column_pages.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/flat_values.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

constexpr Compression kCompressions[] = {Compression::kZstd, Compression::kLz4, Compression::kNone};

/// Appends one row of a page.
void AppendRow(const PageValues& values, uint32_t row, const PageDictionary* dictionary,
               FlatValues& out) {
  const FlatLayout& layout = out.layout();
  if (!values.IsValid(row)) return out.AppendNull();
  switch (values.form) {
    case PageValues::Form::kNumbers:
      if (layout.shape == FlatLayout::Shape::kBit) return out.AppendBit(values.numbers[row] != 0);
      return out.AppendInteger(values.numbers[row]);
    case PageValues::Form::kFixed:
      return out.Append(values.fixed.subspan(row * layout.stored_width, layout.stored_width));
    case PageValues::Form::kBytes:
      return out.Append(values.bytes[row]);
    case PageValues::Form::kIndices:
      return out.Append((*dictionary)[values.indices[row]]);
  }
}

arrow::FieldVector FlatTypes() {
  arrow::FieldVector fields;
  for (const auto& field : AllTypes()) {
    if (!FlatLayoutOf(*field)) continue;
    fields.push_back(field);
    fields.push_back(arrow::field(field->name() + "_required", field->type(), /*nullable=*/false));
  }
  return fields;
}

/// A file's pages, and some of their rows as a fetch decodes them.
class Pages {
 public:
  explicit Pages(const BuiltSuperfile& built) : built_(built) {
    superfile_ = OpenBuilt(built).ValueOrDie();
    map_ = superfile_->row_map();
  }

  [[nodiscard]] const std::shared_ptr<const SuperfileReader>& superfile() const {
    return superfile_;
  }

  [[nodiscard]] const std::shared_ptr<const RowFetchMap>& map() const { return map_; }

  [[nodiscard]] std::shared_ptr<arrow::Buffer> BytesOf(const ByteRange& place) const {
    return arrow::SliceBuffer(built_.bytes, place.offset, place.length);
  }

  /// The bytes of ranges, in their order.
  [[nodiscard]] Buffers Read(const std::vector<ByteRange>& ranges) const {
    Buffers buffers;
    for (const ByteRange& range : ranges) buffers.push_back(BytesOf(range));
    return buffers;
  }

 private:
  const BuiltSuperfile& built_;
  std::shared_ptr<const SuperfileReader> superfile_;
  std::shared_ptr<const RowFetchMap> map_;
};

ByteSpan SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Compares all pages of a column chunk.
void ExpectSameRows(const Pages& pages, int row_group, int leaf, const arrow::Field& field) {
  const FlatLayout layout = *FlatLayoutOf(field);
  const ChunkPages& chunk = pages.map()->Chunk(row_group, leaf);
  const auto& starts = pages.map()->row_group_starts();
  const auto group = static_cast<size_t>(row_group);
  const auto group_rows = static_cast<uint32_t>(starts[group + 1] - starts[group]);
  std::shared_ptr<const PageDictionary> dictionary;
  if (chunk.dictionary.length > 0) {
    INFINO_ASSERT_OK_AND_ASSIGN(dictionary,
                                PageDictionary::Read(layout, pages.map()->compression(),
                                                     SpanOf(*pages.BytesOf(chunk.dictionary))));
  }
  FlatPageReader rows_reader(layout, pages.map()->compression());
  PageValuesReader reader(layout, pages.map()->compression());
  PageValues values;
  for (size_t page = 0; page < chunk.pages.size(); ++page) {
    const PagePlace& place = chunk.pages[page];
    const uint32_t end =
        page + 1 < chunk.pages.size() ? chunk.pages[page + 1].first_row : group_rows;
    const uint32_t count = end - place.first_row;
    const auto bytes = pages.BytesOf({.offset = place.offset, .length = place.length});
    std::vector<uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    FlatValues expected(layout);
    INFINO_ASSERT_OK(rows_reader.Append(SpanOf(*bytes), count, all, dictionary.get(), expected));
    INFINO_ASSERT_OK(reader.Read(bytes, count, dictionary.get(), values));
    ASSERT_EQ(values.row_count, count);
    FlatValues got(layout);
    for (uint32_t row = 0; row < count; ++row) AppendRow(values, row, dictionary.get(), got);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto got_array, got.Take(all));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto expected_array, expected.Take(all));
    EXPECT_TRUE(SameValues(got_array, expected_array)) << field.ToString() << ", page " << page;
  }
}

TEST(PageValues, PagesOfEveryTypeHoldTheRowsThatFetchesDecode) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(FlatTypes());
  for (const Compression compression : kCompressions) {
    const auto batch = RandomBatch(schema.ToArrow(), 2600, random);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}, compression));
    const Pages pages(built);
    for (int leaf = 0; leaf < batch->num_columns(); ++leaf) {
      ExpectSameRows(pages, 0, leaf, *schema.columns[static_cast<size_t>(leaf)].field);
    }
  }
}

/// Texts that repeat at first and then no more, with nulls: pages of both kinds; and numbers.
std::shared_ptr<arrow::RecordBatch> MixedBatch(int64_t rows, Random& random) {
  arrow::StringBuilder texts;
  arrow::Int64Builder numbers;
  for (int64_t i = 0; i < rows; ++i) {
    if (random.Below(9) == 0) {
      INFINO_EXPECT_OK(texts.AppendNull());
    } else {
      INFINO_EXPECT_OK(texts.Append("text " + std::to_string(i < 9000 ? i % 11 : i)));
    }
    INFINO_EXPECT_OK(numbers.Append(i * 7));
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("t", arrow::utf8()),
                     arrow::field("n", arrow::int64(), /*nullable=*/false)}),
      rows, {texts.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()});
}

TEST(ColumnPages, RowsAreThoseOfTheirPagesAndUnwantedPagesAreNotRead) {
  Random random(TestSeed());
  const auto batch = MixedBatch(100'000, random);
  const TableSchema schema = SchemaOf(batch->schema()->fields());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  const Pages pages(built);
  const FlatLayout layout = *FlatLayoutOf(*batch->schema()->field(1));
  for (int round = 0; round < 30; ++round) {
    const int group = static_cast<int>(random.Below(2));
    const auto& starts = pages.map()->row_group_starts();
    const auto start = starts[static_cast<size_t>(group)];
    const auto group_rows = static_cast<uint32_t>(starts[static_cast<size_t>(group) + 1] - start);
    const auto first = static_cast<uint32_t>(random.Below(group_rows - 1));
    const auto count = static_cast<uint32_t>(1 + random.Below(group_rows - first));
    const auto wanted = static_cast<uint32_t>(first + random.Below(count));
    ColumnPages column(pages.superfile(), pages.map(), "n", layout,
                       {.row_group = group, .leaf = 1, .first_row = first, .row_count = count});
    PageReads reads;
    if (round % 2 == 0) {
      column.Plan(reads, [&](uint32_t from, uint32_t to) { return from <= wanted && wanted < to; });
      ASSERT_EQ(reads.ranges().size(), 1U);
      EXPECT_LT(reads.ranges().front().length, 5000);
    } else {
      column.Plan(reads, nullptr);
    }
    INFINO_ASSERT_OK(reads.Take(pages.Read(reads.ranges()), "file"));
    const uint32_t row =
        round % 2 == 0 ? wanted : static_cast<uint32_t>(first + random.Below(count));
    INFINO_ASSERT_OK_AND_ASSIGN(const ColumnPages::Page page, column.At(row, reads));
    ASSERT_LE(page.first_row, row);
    ASSERT_LT(row, page.end_row);
    EXPECT_EQ(page.values->numbers[row - page.first_row], static_cast<uint64_t>(start + row) * 7);
  }
}

TEST(PageValues, PagesWithAndWithoutADictionaryStandInOneColumn) {
  Random random(TestSeed());
  const auto batch = MixedBatch(70'000, random);
  const TableSchema schema = SchemaOf(batch->schema()->fields());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  const Pages pages(built);
  ASSERT_GT(pages.map()->Chunk(0, 0).dictionary.length, 0);
  for (int group = 0; group < pages.map()->row_group_count(); ++group) {
    ExpectSameRows(pages, group, 0, *batch->schema()->field(0));
  }
}

TEST(PageValues, TextThatIsNotUtf8IsCorrupt) {
  arrow::BinaryBuilder builder;
  for (const char* bytes : {"plain", "cut \xC3", "\xA4 rest"})
    INFINO_ASSERT_OK(builder.Append(bytes));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto column, builder.Finish());
  const auto field = arrow::field("b", arrow::binary());
  const TableSchema schema = SchemaOf({field});
  const auto batch = arrow::RecordBatch::Make(schema.ToArrow(), 3, {column});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  const Pages pages(built);
  const PagePlace& place = pages.map()->Chunk(0, 0).pages.front();
  const auto bytes = pages.BytesOf({.offset = place.offset, .length = place.length});
  PageValues values;
  const FlatLayout binary = *FlatLayoutOf(*field);
  INFINO_EXPECT_OK(
      PageValuesReader(binary, pages.map()->compression()).Read(bytes, 3, nullptr, values));
  const FlatLayout text = *FlatLayoutOf(*arrow::field("b", arrow::utf8()));
  EXPECT_THAT(PageValuesReader(text, pages.map()->compression()).Read(bytes, 3, nullptr, values),
              IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
