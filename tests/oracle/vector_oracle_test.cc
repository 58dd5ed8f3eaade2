#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/index/vector/vector_column.h"
#include "infino/table.h"
#include "oracle/vector_exam.h"
#include "support/matchers.h"
#include "support/random_vectors.h"

namespace infino {
namespace {

using vector::VectorMetric;

/// How far a score may be from the distance: what the tier's rounding of a vector can do.
double ToleranceOf(const Exam& exam, const std::vector<float>& query) {
  double share = 2e-3;  // fp16, and both planes of sq8_residual
  if (exam.rerank == "fp32") share = 1e-5;
  if (exam.rerank == "sq8") share = 2e-2;
  double longest = 1;
  for (const auto& row : exam.rows) {
    double square = 0;
    for (size_t i = 0; i < row.size(); ++i)
      square += double{row[i]} * row[i] + double{query[i]} * query[i];
    longest = std::max(longest, square);
  }
  return exam.metric == VectorMetric::kCosine ? share : share * longest;
}

/// One query: as many rows as there can be, each once, ascending, with their distances. Returns how
/// many of the nearest were found.
size_t CheckAnswer(Table& table, const Exam& exam, const std::vector<float>& query, uint64_t k,
                   const std::string& mark) {
  const Found found = Ask(table, RequestFor(query, k, mark));
  const auto nearest = NearestOf(exam, query, mark);
  const size_t wanted = std::min<uint64_t>(k, nearest.size());
  EXPECT_EQ(found.rows.size(), wanted);
  EXPECT_EQ(std::set<int64_t>(found.rows.begin(), found.rows.end()).size(), found.rows.size());
  EXPECT_TRUE(std::ranges::is_sorted(found.scores));
  if (exam.rerank == "none") return 0;
  const double tolerance = ToleranceOf(exam, query);
  size_t right = 0;
  for (size_t i = 0; i < found.rows.size(); ++i) {
    const auto& row = exam.rows[static_cast<size_t>(found.rows[i])];
    const double distance = vector::ExactDistance(exam.metric, query, row);
    EXPECT_NEAR(found.scores[i], distance, tolerance);
    if (!mark.empty()) {
      EXPECT_TRUE(HasMark(static_cast<size_t>(found.rows[i]), exam.rows.size(), mark));
    }
    if (distance <= nearest[wanted - 1].first + 1e-6) ++right;
    // Rows stand in `_id` order in the table, so that is how ties come.
    if (i > 0 && found.scores[i] == found.scores[i - 1]) {
      EXPECT_LT(found.rows[i - 1], found.rows[i]);
    }
  }
  return right;
}

/// The share of the ten nearest that is found, over all queries.
double RecallOf(Table& table, const Exam& exam, const std::string& mark) {
  size_t right = 0;
  size_t wanted = 0;
  for (const auto& query : exam.queries) {
    right += CheckAnswer(table, exam, query, 10, mark);
    wanted += std::min<size_t>(10, NearestOf(exam, query, mark).size());
  }
  return wanted == 0 ? 1 : static_cast<double>(right) / static_cast<double>(wanted);
}

class VectorOracle : public ::testing::TestWithParam<Setting> {};

TEST_P(VectorOracle, FindsTheNearestRowsWithAnyFilter) {
  const Exam exam = MakeExam(GetParam());
  const Taken taken = MakeTable(exam, GetParam().superfiles, 2);
  for (const std::string mark : {"", "even", "tenth", "rare"}) {
    SCOPED_TRACE("filter: " + mark);
    const double recall = RecallOf(*taken.table, exam, mark);
    if (exam.rerank == "none") continue;
    EXPECT_GE(recall, exam.rerank == "sq8" ? 0.95 : 0.99);
  }
}

std::vector<Setting> AllSettings() {
  std::vector<Setting> settings;
  for (const VectorMetric metric :
       {VectorMetric::kCosine, VectorMetric::kL2Squared, VectorMetric::kNegativeDot}) {
    for (const char* rerank : {"fp32", "fp16", "sq8_residual", "sq8", "none"}) {
      settings.push_back({.rows = 600, .dimension = 48, .metric = metric, .rerank = rerank});
    }
    settings.push_back({.kind = Kind::kClusters, .rows = 2000, .metric = metric, .superfiles = 7});
    settings.push_back(
        {.kind = Kind::kClusterByCluster, .rows = 2500, .metric = metric, .superfiles = 25});
    settings.push_back(
        {.kind = Kind::kDuplicates, .rows = 2000, .metric = metric, .superfiles = 3});
  }
  for (const size_t rows : {1U, 2U, 9U, 10U, 33U, 257U}) {
    settings.push_back({.rows = rows, .dimension = 16, .superfiles = 1});
    settings.push_back({.rows = rows, .dimension = 17, .metric = VectorMetric::kL2Squared});
  }
  for (const size_t dimension : {64U, 128U, 384U, 1536U}) {
    settings.push_back({.rows = 1500, .dimension = dimension, .superfiles = 2});
  }
  settings.push_back({.rows = 3000, .superfiles = 60});
  settings.push_back({.rows = 300, .dimension = 4096});
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Kinds, VectorOracle, ::testing::ValuesIn(AllSettings()));

}  // namespace
}  // namespace infino
