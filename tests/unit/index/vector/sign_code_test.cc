#include "infino/index/vector/sign_code.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_space.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

/// What estimates of one column's codes are like, over many rows and queries.
struct Errors {
  double bias = 0;     ///< Mean error, in standard deviations of one estimate.
  double size = 0;     ///< Root mean square, in the same.
  double outside = 0;  ///< Share of distances below their lowest at two deviations.
};

Errors MeasureErrors(const Vectors& rows, const Vectors& queries, const VectorColumn& column) {
  const auto space = SpaceOf(column, rows, 16);
  SignEncoder encoder(*space);
  std::vector<uint8_t> record(CodeRecordBytes(column.dimension));
  std::vector<uint8_t> block(BlockContentBytes(column.dimension));
  Errors errors;
  double count = 0;
  const double confidence = 2;
  for (size_t q = 0; q < queries.size(); ++q) {
    const PreparedQuery query = *PreparedQuery::Make(*space, queries[q], confidence);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<float> row(column.dimension);
      NormalizeFor(column.metric, rows[i], row);
      PointRef point;
      space->FindNearest(row, std::span(&point, 1));
      encoder.Encode(row, point, record);
      PackBlock(record, column.dimension, block);
      const PreparedQuery::List& list = query.list(point.list);
      BlockTerms terms;
      terms.base.fill(list.base[point.place]);
      terms.spread.fill(list.spread[point.place]);
      BlockEstimates estimates;
      static_cast<void>(
          BestScanFunction()(block.data(), list.table, list.terms, terms, 0, estimates));
      const double deviation = (estimates.distance[0] - estimates.lowest[0]) / confidence;
      if (deviation == 0) continue;  // the reference point itself
      const double exact = ExactDistance(column.metric, queries[q], rows[i]);
      const double error = (estimates.distance[0] - exact) / deviation;
      errors.bias += error;
      errors.size += error * error;
      errors.outside += exact < estimates.lowest[0] ? 1 : 0;
      ++count;
    }
  }
  errors.bias /= count;
  errors.size = std::sqrt(errors.size / count);
  errors.outside /= count;
  return errors;
}

class SignCode : public ::testing::TestWithParam<VectorMetric> {};

TEST_P(SignCode, EstimatesAreUnbiasedAndTheirErrorIsKnown) {
  Random random(TestSeed());
  for (const uint32_t dimension : {33U, 128U, 384U}) {
    const VectorColumn column = {
        .dimension = dimension, .metric = GetParam(), .rotation_seed = random.Next()};
    const Errors errors = MeasureErrors(GaussianVectors(random, 600, dimension),
                                        GaussianVectors(random, 12, dimension), column);
    EXPECT_NEAR(errors.bias, 0, 0.08) << dimension;
    // The bound takes the whole query for the part that errs: it may be a little too wide.
    EXPECT_LT(errors.size, 1.1) << dimension;
    EXPECT_GT(errors.size, 0.6) << dimension;
    EXPECT_LT(errors.outside, 0.04) << dimension;
  }
}

TEST_P(SignCode, EstimatesHoldForVectorsFarFromTheOrigin) {
  Random random(TestSeed() + 1);
  const VectorColumn column = {
      .dimension = 96, .metric = GetParam(), .rotation_seed = random.Next()};
  Vectors rows = ClusteredVectors(random, 600, 96, 10, 0.05);
  for (auto& row : rows) row[3] += 5;
  Vectors queries(rows.begin(), rows.begin() + 10);
  for (auto& query : queries) query[7] += 0.1F;
  const Errors errors = MeasureErrors(rows, queries, column);
  EXPECT_NEAR(errors.bias, 0, 0.15);
  EXPECT_LT(errors.size, 1.35);
  EXPECT_LT(errors.outside, 0.05);
}

TEST_P(SignCode, TheEstimateOfTheUnroundedQueryIsNearTheScans) {
  Random random(TestSeed() + 2);
  const VectorColumn column = {
      .dimension = 100, .metric = GetParam(), .rotation_seed = random.Next()};
  const Vectors rows = GaussianVectors(random, 200, 100);
  const auto space = SpaceOf(column, rows, 4);
  SignEncoder encoder(*space);
  std::vector<uint8_t> record(CodeRecordBytes(100));
  const std::vector<float> vector = GaussianVectors(random, 1, 100)[0];
  const PreparedQuery query = *PreparedQuery::Make(*space, vector, 1);
  double error = 0;
  double squares = 0;
  for (const auto& original : rows) {
    std::vector<float> row(100);
    NormalizeFor(column.metric, original, row);
    PointRef point;
    space->FindNearest(row, std::span(&point, 1));
    encoder.Encode(row, point, record);
    const double exact = ExactDistance(column.metric, vector, original);
    error += query.EstimateOf(record, point) - exact;
    squares += exact * exact;
  }
  EXPECT_LT(std::abs(error / 200), 0.1 * std::sqrt(squares / 200) + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Metrics, SignCode,
                         ::testing::Values(VectorMetric::kCosine, VectorMetric::kL2Squared,
                                           VectorMetric::kNegativeDot));

TEST(SignCode, OfAReferencePointItselfIsExact) {
  Random random(TestSeed() + 3);
  const VectorColumn column = {.dimension = 48, .metric = VectorMetric::kL2Squared};
  const Vectors rows = GaussianVectors(random, 1, 48);
  const auto space = SpaceOf(column, rows, 1);
  SignEncoder encoder(*space);
  std::vector<uint8_t> record(CodeRecordBytes(48));
  encoder.Encode(rows[0], {}, record);
  const std::vector<float> vector = GaussianVectors(random, 1, 48)[0];
  const PreparedQuery query = *PreparedQuery::Make(*space, vector, 1);
  const double exact = ExactDistance(column.metric, vector, rows[0]);
  EXPECT_NEAR(query.EstimateOf(record, {}), exact, 1e-4 * exact);
}

TEST(SignCode, ABlockGivesItsRecordsBack) {
  Random random(TestSeed() + 4);
  for (const size_t dimension : {size_t{16}, size_t{17}, size_t{384}}) {
    const size_t size = CodeRecordBytes(dimension);
    for (const size_t count : {size_t{1}, size_t{31}, kBlockCodes}) {
      std::vector<uint8_t> records(count * size);
      for (uint8_t& byte : records) byte = static_cast<uint8_t>(random.Next());
      std::vector<uint8_t> block(BlockContentBytes(dimension), 0xEE);
      PackBlock(records, dimension, block);
      std::vector<uint8_t> record(size);
      for (size_t i = 0; i < kBlockCodes; ++i) {
        UnpackRecord(block, i, dimension, record);
        const auto begin = records.begin() + static_cast<ptrdiff_t>(i * size);
        const std::vector<uint8_t> expected =
            i < count ? std::vector<uint8_t>(begin, begin + static_cast<ptrdiff_t>(size))
                      : std::vector<uint8_t>(size);
        ASSERT_EQ(record, expected);
      }
    }
  }
}

TEST(SignCode, DecodedSignsPointTheVectorsWay) {
  Random random(TestSeed() + 5);
  const VectorColumn column = {.dimension = 384, .metric = VectorMetric::kL2Squared};
  const Vectors rows = GaussianVectors(random, 50, 384);
  const auto space = SpaceOf(column, rows, 1);
  SignEncoder encoder(*space);
  std::vector<uint8_t> record(CodeRecordBytes(384));
  std::vector<float> decoded(384);
  for (const auto& row : rows) {
    encoder.Encode(row, {}, record);
    DecodeSigns(record, *space, {}, decoded);
    EXPECT_LT(ExactDistance(VectorMetric::kCosine, decoded, row), 0.3);
  }
}

}  // namespace
}  // namespace infino::vector
