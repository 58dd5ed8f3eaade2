#include "infino/index/vector/vector_index_merge.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_space.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

BlobRead ReadOf(const BuiltVectors& built) {
  return [&built](ByteRange range) -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
    return arrow::SliceBuffer(built.blob, range.offset, range.length);
  };
}

struct Merged {
  FinishedVectorIndex finished;
  std::shared_ptr<arrow::Buffer> blob;
};

arrow::Result<Merged> Merge(const VectorSpace& space, std::span<const VectorIndexInput> inputs,
                            int64_t read_bytes) {
  ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::BufferOutputStream::Create());
  Merged merged;
  ARROW_ASSIGN_OR_RAISE(merged.finished,
                        MergeVectorIndexes(space, inputs, *sink, {.read_bytes = read_bytes}));
  ARROW_ASSIGN_OR_RAISE(merged.blob, sink->Finish());
  return merged;
}

/// Rows dealt at random to a few inputs, some of them gone.
struct Deal {
  Vectors kept;
  std::vector<Vectors> inputs;
  std::vector<std::vector<DocId>> new_docs;
};

Deal DealRows(Random& random, const Vectors& rows, size_t inputs, double gone) {
  Deal deal;
  deal.inputs.resize(inputs);
  deal.new_docs.resize(inputs);
  for (const auto& row : rows) {
    const uint64_t to = random.Below(inputs);
    deal.inputs[to].push_back(row);
    if (random.Unit() < gone) {
      deal.new_docs[to].push_back(kGoneDoc);
    } else {
      deal.new_docs[to].push_back(static_cast<DocId>(deal.kept.size()));
      deal.kept.push_back(row);
    }
  }
  return deal;
}

class VectorIndexMerge : public ::testing::TestWithParam<RerankTier> {};

TEST_P(VectorIndexMerge, GivesTheBytesOfAnIndexBuiltOfTheSurvivors) {
  Random random(TestSeed());
  // Above the number of rows from which a recall curve is measured.
  const Vectors rows = GaussianVectors(random, 7000, 24);
  const auto space = SpaceOf({.dimension = 24, .tier = GetParam()}, rows, 64);
  for (const double gone : {0.0, 0.3}) {
    const Deal deal = DealRows(random, rows, 4, gone);
    std::vector<BuiltVectors> built;
    for (const Vectors& input : deal.inputs) built.push_back(BuildVectors(space, input));
    std::vector<VectorIndexInput> inputs;
    for (size_t i = 0; i < built.size(); ++i) {
      inputs.push_back(
          {.index = built[i].reader, .read = ReadOf(built[i]), .new_docs = deal.new_docs[i]});
    }
    const BuiltVectors expected = BuildVectors(space, deal.kept);
    for (const int64_t read_bytes : {int64_t{1}, int64_t{5000}, int64_t{1} << 20}) {
      INFINO_ASSERT_OK_AND_ASSIGN(const Merged merged, Merge(*space, inputs, read_bytes));
      EXPECT_TRUE(merged.blob->Equals(*expected.blob));
      EXPECT_TRUE(merged.finished.open_part->Equals(*expected.finished.open_part));
      EXPECT_EQ(merged.finished.blob_length, merged.blob->size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, VectorIndexMerge,
                         ::testing::Values(RerankTier::kNone, RerankTier::kFp16,
                                           RerankTier::kSq8Residual));

TEST(VectorIndexMergeLists, InputsOfDifferentListsKeepTheirPoints) {
  Random random(TestSeed() + 1);
  const Vectors rows = GaussianVectors(random, 900, 24);
  const VectorColumn column = {.dimension = 24, .metric = VectorMetric::kL2Squared};
  const Vectors left(rows.begin(), rows.begin() + 400);
  const Vectors right(rows.begin() + 400, rows.end());
  const auto left_space = SpaceOf(column, left, 8);
  const auto right_space = SpaceOf(column, right, 13);
  std::vector<std::shared_ptr<const PointList>> lists;
  for (const auto& space : {left_space, right_space}) {
    const auto values = space->list(0).values();
    INFINO_ASSERT_OK_AND_ASSIGN(auto list, PointList::Make(24, {values.begin(), values.end()}));
    lists.push_back(list);
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const auto both, VectorSpace::Make(column, lists));
  const BuiltVectors a = BuildVectors(left_space, left);
  const BuiltVectors b = BuildVectors(right_space, right);
  std::vector<DocId> a_docs(left.size());
  std::vector<DocId> b_docs(right.size());
  for (DocId i = 0; i < a_docs.size(); ++i) a_docs[i] = i;
  for (DocId i = 0; i < b_docs.size(); ++i) b_docs[i] = 400 + i;
  const std::vector<VectorIndexInput> inputs = {
      {.index = a.reader, .read = ReadOf(a), .new_docs = a_docs},
      {.index = b.reader, .read = ReadOf(b), .new_docs = b_docs}};
  INFINO_ASSERT_OK_AND_ASSIGN(const Merged merged, Merge(*both, inputs, 1 << 20));
  BuiltVectors built;
  built.blob = merged.blob;
  INFINO_ASSERT_OK_AND_ASSIGN(built.reader, VectorIndexReader::Open(merged.finished.open_part,
                                                                    merged.blob->size(), "merged"));
  EXPECT_EQ(built.reader->lists().size(), 2);
  EXPECT_GE(MeasureRecall(built, *both, rows, GaussianVectors(random, 20, 24), {}), 0.98);
  EXPECT_THAT(Merge(*left_space, inputs, 1 << 20), IsError(ErrorKind::kInvalidArgument));
}

TEST(VectorIndexMergeLists, RefusesNumbersThatAreNoNewDocuments) {
  Random random(TestSeed() + 2);
  const Vectors rows = GaussianVectors(random, 3, 16);
  const auto space = SpaceOf({.dimension = 16}, rows, 1);
  const BuiltVectors built = BuildVectors(space, rows);
  for (const std::vector<DocId>& docs :
       std::vector<std::vector<DocId>>{{0, 1}, {0, 1, 3}, {1, 0, 2}, {0, 0, 1}, {0, kGoneDoc, 2}}) {
    const VectorIndexInput input = {.index = built.reader, .read = ReadOf(built), .new_docs = docs};
    EXPECT_THAT(Merge(*space, std::span(&input, 1), 1000), IsError(ErrorKind::kInvalidArgument));
  }
  EXPECT_THAT(Merge(*space, {}, 1000), IsError(ErrorKind::kInvalidArgument));
}

TEST(VectorIndexMergeLists, DamageInAnInputIsNamed) {
  Random random(TestSeed() + 3);
  const Vectors rows = GaussianVectors(random, 200, 16);
  const auto space = SpaceOf({.dimension = 16}, rows, 2);
  BuiltVectors built = BuildVectors(space, rows);
  std::vector<DocId> docs(rows.size());
  for (DocId i = 0; i < docs.size(); ++i) docs[i] = i;
  const std::shared_ptr<arrow::Buffer> whole = built.blob;
  for (int64_t at = 32; at < whole->size(); at += 11) {
    std::vector<uint8_t> bad(whole->data(), whole->data() + whole->size());
    bad[static_cast<size_t>(at)] ^= 4;
    built.blob = ToBuffer(std::move(bad));
    const VectorIndexInput input = {.index = built.reader, .read = ReadOf(built), .new_docs = docs};
    ASSERT_THAT(Merge(*space, std::span(&input, 1), 1000), IsError(ErrorKind::kCorrupt)) << at;
  }
}

}  // namespace
}  // namespace infino::vector
