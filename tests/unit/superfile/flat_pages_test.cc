// Rows that are decoded without Parquet's reader are those that Parquet's reader sees.

#include "infino/superfile/flat_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/options.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_values.h"
#include "infino/superfile/page_dictionaries.h"
#include "infino/superfile/page_values.h"
#include "infino/superfile/row_fetch.h"
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

/// Every flat type, nullable and not.
arrow::FieldVector FlatTypes() {
  arrow::FieldVector fields;
  for (const auto& field : AllTypes()) {
    if (!FlatLayoutOf(*field)) continue;
    fields.push_back(field);
    fields.push_back(arrow::field(field->name() + "_required", field->type(), /*nullable=*/false));
  }
  return fields;
}

/// Fetches random rows of a file and compares them with what Parquet's reader sees in it.
void ExpectFetchedAsParquetReads(const TableSchema& schema, const BuiltSuperfile& built,
                                 Random& random) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto table, ReadParquet(built.bytes));
  std::vector<int32_t> field_ids;
  for (const TableColumn& column : schema.columns) field_ids.push_back(column.field_id);
  for (const size_t count : std::vector<size_t>{1, 2, 30, 500}) {
    const auto docs = RandomDocs(random, count, table->num_rows());
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, docs, field_ids));
    INFINO_ASSERT_OK(rows->ValidateFull());
    for (int i = 0; i < rows->num_columns(); ++i) {
      const auto& type = rows->schema()->field(i)->type();
      const auto taken = TakeRows(table->column(i + 1)->chunks(), docs);
      INFINO_ASSERT_OK_AND_ASSIGN(const auto expected, Conform(taken, type));
      EXPECT_TRUE(SameValues(rows->column(i), expected))
          << schema.columns[static_cast<size_t>(i)].field->ToString() << ": got "
          << rows->column(i)->ToString() << "\nexpected " << expected->ToString();
    }
  }
}

TEST(FlatPages, RowsOfEveryTypeAreThoseThatParquetReads) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(FlatTypes());
  ASSERT_GT(schema.columns.size(), 80U);
  for (const Compression compression : kCompressions) {
    const auto batch = RandomBatch(schema.ToArrow(), 2600, random);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}, compression));
    ExpectFetchedAsParquetReads(schema, built, random);
  }
}

/// Numbers and texts in the shapes that pages treat differently.
std::shared_ptr<arrow::RecordBatch> ShapedBatch(int64_t rows, Random& random) {
  arrow::Int64Builder ascending;
  arrow::Int64Builder extreme;
  arrow::Int32Builder small;
  arrow::BooleanBuilder mostly;
  arrow::StringBuilder kind;
  arrow::StringBuilder sparse;
  arrow::LargeStringBuilder empty;
  constexpr int64_t kExtremes[] = {std::numeric_limits<int64_t>::min(),
                                   std::numeric_limits<int64_t>::max(), 0, -1};
  for (int64_t i = 0; i < rows; ++i) {
    INFINO_EXPECT_OK(ascending.Append(i * 3));
    INFINO_EXPECT_OK(extreme.Append(kExtremes[random.Below(4)]));
    INFINO_EXPECT_OK(small.Append(static_cast<int32_t>(random.Below(1U << (i / 1000 % 31)))));
    INFINO_EXPECT_OK(mostly.Append(random.Below(300) != 0));
    INFINO_EXPECT_OK(kind.Append("kind " + std::to_string(random.Below(40))));
    INFINO_EXPECT_OK(random.Below(900) == 0 ? sparse.Append(std::to_string(i))
                                            : sparse.AppendNull());
    INFINO_EXPECT_OK(empty.Append(""));
  }
  arrow::ArrayVector columns;
  for (arrow::ArrayBuilder* builder : std::vector<arrow::ArrayBuilder*>{
           &ascending, &extreme, &small, &mostly, &kind, &sparse, &empty}) {
    columns.push_back(builder->Finish().ValueOrDie());
  }
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(arrow::field("c" + std::to_string(i), columns[i]->type()));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), rows, columns);
}

TEST(FlatPages, RowsOfManyPagesAndRowGroupsAreThoseThatParquetReads) {
  Random random(TestSeed());
  const auto batch = ShapedBatch(140'000, random);
  const TableSchema schema = SchemaOf(batch->schema()->fields());
  for (const Compression compression : kCompressions) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}, compression));
    ExpectFetchedAsParquetReads(schema, built, random);
  }
}

TEST(FlatPages, CellsLongerThanAWindowOfTheCompressorComeBack) {
  Random random(TestSeed());
  arrow::StringBuilder builder;
  for (const size_t length : {size_t{3} << 20, size_t{0}, size_t{700} << 10, size_t{5}}) {
    std::string cell;
    for (size_t i = 0; i < length; ++i) cell += static_cast<char>('a' + random.Below(20));
    INFINO_ASSERT_OK(builder.Append(cell));
  }
  INFINO_ASSERT_OK(builder.Append(std::string(size_t{9} << 20, 'z')));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto column, builder.Finish());
  const TableSchema schema = SchemaOf({arrow::field("body", arrow::utf8())});
  const auto batch = arrow::RecordBatch::Make(schema.ToArrow(), column->length(), {column});
  for (const Compression compression : kCompressions) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}, compression));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, {4, 0, 1, 2, 3}, {1}));
    EXPECT_TRUE(rows->column(0)->Equals(*TakeRows({column}, {4, 0, 1, 2, 3})));
  }
}

TEST(FlatPages, ADictionaryIsReadOnce) {
  Random random(TestSeed());
  const auto batch = ShapedBatch(3000, random);
  const TableSchema schema = SchemaOf(batch->schema()->fields());
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  constexpr int32_t kKind = 5;
  const int64_t dictionary_length = superfile->row_map()->Chunk(0, kKind - 1).dictionary.length;
  ASSERT_GT(dictionary_length, 0);
  EXPECT_GT(superfile->dictionaries().budget_bytes(), 0);
  const auto wanted_bytes = [&] {
    int64_t total = 0;
    const auto fetch = RowFetch::Make(*superfile, {17, 2900}, {kKind}).ValueOrDie();
    for (const ByteRange& range : fetch->NextReads().ValueOrDie()) total += range.length;
    return total;
  };
  const int64_t first = wanted_bytes();
  for (int round = 0; round < 2; ++round) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, FetchRows(*superfile, {17, 2900}, {kKind}));
    EXPECT_TRUE(rows->column(0)->Equals(*TakeRows({batch->column(kKind - 1)}, {17, 2900})));
    EXPECT_EQ(wanted_bytes(), first - dictionary_length);
  }
}

TEST(FlatPages, ADictionaryThatDoesNotFitTheBudgetIsNotKept) {
  Random random(TestSeed());
  const auto batch = ShapedBatch(3000, random);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto built,
                              BuildFrom(SchemaOf(batch->schema()->fields()), {batch}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
  constexpr int kKindLeaf = 4;
  INFINO_ASSERT_OK(FetchRows(*superfile, {5}, {kKindLeaf + 1}).status());
  const auto kept = superfile->dictionaries().Find(0, kKindLeaf);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->size(), 40U);
  PageDictionaries small(kept->memory_bytes() - 1);
  small.Keep(0, kKindLeaf, kept);
  EXPECT_EQ(small.Find(0, kKindLeaf), nullptr);
  PageDictionaries one(kept->memory_bytes());
  one.Keep(0, kKindLeaf, kept);
  one.Keep(1, kKindLeaf, kept);
  EXPECT_EQ(one.Find(0, kKindLeaf), kept);
  EXPECT_EQ(one.Find(1, kKindLeaf), nullptr);
}

/// Single pages of one column, without the checksums that stand before them.
class PageOfColumn {
 public:
  PageOfColumn(const BuiltSuperfile& built, const RowFetchMap& map, int leaf,
               const arrow::Field& field)
      : layout_(*FlatLayoutOf(field)), compression_(map.compression()) {
    const ChunkPages& chunk = map.Chunk(0, leaf);
    data_ = BytesOf(built, {.offset = chunk.pages[0].offset, .length = chunk.pages[0].length});
    dictionary_ = BytesOf(built, chunk.dictionary);
    const int64_t rows =
        chunk.pages.size() > 1 ? int64_t{chunk.pages[1].first_row} : map.row_group_starts()[1];
    row_count_ = static_cast<uint32_t>(rows);
    rows_ = {0, row_count_ / 2, row_count_ - 1};
  }

  [[nodiscard]] const std::vector<uint8_t>& data() const { return data_; }

  [[nodiscard]] const std::vector<uint8_t>& dictionary() const { return dictionary_; }

  [[nodiscard]] arrow::Status Read(const std::vector<uint8_t>& data,
                                   const std::vector<uint8_t>& dictionary) const {
    std::shared_ptr<const PageDictionary> entries;
    if (!dictionary.empty()) {
      ARROW_ASSIGN_OR_RAISE(entries, PageDictionary::Read(layout_, compression_, dictionary));
    }
    FlatPageReader reader(layout_, compression_);
    FlatValues values(layout_);
    ARROW_RETURN_NOT_OK(reader.Append(data, row_count_, rows_, entries.get(), values));
    EXPECT_EQ(values.size(), rows_.size());
    ARROW_ASSIGN_OR_RAISE(const auto array, values.Take(std::vector<uint32_t>{2, 0, 1, 0}));
    return array->Validate();
  }

  /// As a scan reads it.
  [[nodiscard]] arrow::Status ReadWhole(const std::vector<uint8_t>& data,
                                        const std::vector<uint8_t>& dictionary) const {
    PageValuesReader reader(layout_, compression_);
    std::shared_ptr<const PageDictionary> entries;
    if (!dictionary.empty()) {
      ARROW_ASSIGN_OR_RAISE(entries, PageDictionary::Read(layout_, compression_, dictionary));
      ARROW_RETURN_NOT_OK(reader.Read(*entries).status());
    }
    PageValues values;
    const auto page =
        std::make_shared<arrow::Buffer>(data.data(), static_cast<int64_t>(data.size()));
    return reader.Read(page, row_count_, entries.get(), values);
  }

 private:
  static std::vector<uint8_t> BytesOf(const BuiltSuperfile& built, const ByteRange& place) {
    const uint8_t* start = built.bytes->data() + place.offset;
    return {start, start + place.length};
  }

  FlatLayout layout_;
  Compression compression_;
  std::vector<uint8_t> data_;
  std::vector<uint8_t> dictionary_;
  uint32_t row_count_ = 0;
  std::vector<uint32_t> rows_;
};

void ExpectReadOrCorrupt(const arrow::Status& status, const std::string& what) {
  if (status.ok()) return;
  EXPECT_THAT(status, IsError(ErrorKind::kCorrupt)) << what;
}

/// Every byte of header, levels and the first values in turn, and a few others.
void Damage(const PageOfColumn& page, const std::string& what, Random& random) {
  const auto flip = [&](std::vector<uint8_t> bytes, bool in_dictionary, size_t at, uint8_t mask) {
    bytes[at] ^= mask;
    ExpectReadOrCorrupt(
        in_dictionary ? page.Read(page.data(), bytes) : page.Read(bytes, page.dictionary()),
        what + ", offset " + std::to_string(at));
    ExpectReadOrCorrupt(in_dictionary ? page.ReadWhole(page.data(), bytes)
                                      : page.ReadWhole(bytes, page.dictionary()),
                        what + " whole, offset " + std::to_string(at));
  };
  for (const bool in_dictionary : {false, true}) {
    const std::vector<uint8_t>& bytes = in_dictionary ? page.dictionary() : page.data();
    constexpr size_t kFront = 160;
    for (size_t at = 0; at < std::min(bytes.size(), kFront); ++at) {
      for (const uint8_t mask : std::vector<uint8_t>{0x01, 0x08, 0x40, 0x80, 0xFF}) {
        flip(bytes, in_dictionary, at, mask);
      }
    }
    for (int i = 0; i < 60 && !bytes.empty(); ++i) {
      flip(bytes, in_dictionary, random.Below(bytes.size()),
           static_cast<uint8_t>(1 + random.Below(255)));
    }
    for (size_t length = 0; length < bytes.size(); length += 1 + length / 8) {
      const std::vector<uint8_t> cut(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(length));
      if (in_dictionary && length == 0) continue;
      EXPECT_THAT(in_dictionary ? page.Read(page.data(), cut) : page.Read(cut, page.dictionary()),
                  IsError(ErrorKind::kCorrupt))
          << what << ", length " << length;
      EXPECT_THAT(
          in_dictionary ? page.ReadWhole(page.data(), cut) : page.ReadWhole(cut, page.dictionary()),
          IsError(ErrorKind::kCorrupt))
          << what << " whole, length " << length;
    }
  }
}

TEST(FlatPages, DamageThatNoChecksumCatchesIsCorruptOrValues) {
  Random random(TestSeed());
  const TableSchema schema = SchemaOf(FlatTypes());
  for (const Compression compression : kCompressions) {
    const auto batch = RandomBatch(schema.ToArrow(), 400, random);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto built, BuildFrom(schema, {batch}, compression));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto superfile, OpenBuilt(built));
    for (int i = 0; i < batch->num_columns(); ++i) {
      const PageOfColumn page(built, *superfile->row_map(), i,
                              *schema.columns[static_cast<size_t>(i)].field);
      INFINO_ASSERT_OK(page.Read(page.data(), page.dictionary()));
      INFINO_ASSERT_OK(page.ReadWhole(page.data(), page.dictionary()));
      Damage(page, batch->schema()->field(i)->ToString(), random);
    }
  }
}

}  // namespace
}  // namespace infino
