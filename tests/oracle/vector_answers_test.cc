#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/search.h"
#include "infino/table.h"
#include "oracle/vector_exam.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/random_vectors.h"

namespace infino {
namespace {

TEST(VectorLayout, NeverShowsInScores) {
  for (const char* rerank : {"sq8_residual", "fp32"}) {
    Exam exam = MakeExam({.kind = Kind::kClusters, .rows = 1800});
    exam.rerank = rerank;
    std::map<size_t, Taken> tables;
    for (const size_t superfiles : {1U, 7U, 60U})
      tables[superfiles] = MakeTable(exam, superfiles, 2);
    for (const auto& query : exam.queries) {
      for (const std::string mark : {"", "tenth"}) {
        VectorSearchRequest request = RequestFor(query, 25, mark);
        request.effort.target_recall = 1;
        const Found expected = Ask(*tables[1].table, request);
        EXPECT_EQ(Ask(*tables[7].table, request), expected);
        EXPECT_EQ(Ask(*tables[60].table, request), expected);
      }
    }
  }
}

TEST(VectorLayout, GivesARowTheSameScoreWhateverIsAskedFor) {
  const Exam exam = MakeExam({.kind = Kind::kClusters, .rows = 2000, .superfiles = 4});
  const Taken taken = MakeTable(exam, 4);
  for (const auto& query : exam.queries) {
    const Found all = Ask(*taken.table, RequestFor(query, 1'000'000'000'000'000'000));
    ASSERT_EQ(all.rows.size(), exam.rows.size());
    std::map<int64_t, float> scores;
    for (size_t i = 0; i < all.rows.size(); ++i) scores[all.rows[i]] = all.scores[i];
    for (const std::string mark : {"", "odd", "rare"}) {
      const Found some = Ask(*taken.table, RequestFor(query, 10, mark));
      for (size_t i = 0; i < some.rows.size(); ++i) {
        EXPECT_EQ(some.scores[i], scores[some.rows[i]]);
      }
    }
  }
}

TEST(VectorEffort, LooksAtMoreForMore) {
  const Exam exam = MakeExam({.kind = Kind::kClusters, .rows = 3000, .dimension = 32});
  const Taken taken = MakeTable(exam, 2);
  const auto recall_at = [&](std::optional<uint32_t> nprobe, double target) {
    size_t right = 0;
    for (const auto& query : exam.queries) {
      VectorSearchRequest request = RequestFor(query, 10);
      request.effort = {.target_recall = target, .nprobe = nprobe};
      const Found found = Ask(*taken.table, request);
      EXPECT_EQ(found.rows.size(), 10U);
      const auto nearest = NearestOf(exam, query, "");
      for (size_t i = 0; i < 10; ++i) {
        if (std::ranges::count(found.rows, nearest[i].second) > 0) ++right;
      }
    }
    return static_cast<double>(right) / (10.0 * static_cast<double>(exam.queries.size()));
  };
  EXPECT_EQ(recall_at(std::nullopt, 1), 1);
  EXPECT_LT(recall_at(1, 0.99), 1);
  EXPECT_GE(recall_at(256, 0.99), 0.99);
}

TEST(VectorBatch, GivesEachQueryWhatItGetsAlone) {
  const Exam exam = MakeExam({.kind = Kind::kClusters, .rows = 2000});
  for (const int threads : {1, 3}) {
    const Taken taken = MakeTable(exam, 3, threads);
    VectorSearchRequest request = RequestFor(exam.queries.front(), 7, "even");
    request.queries.clear();
    for (size_t i = 0; i < 200; ++i)
      request.queries.push_back(exam.queries[i % exam.queries.size()]);
    request.number_queries = true;
    request.effort.target_recall = 1;
    const auto table = taken.table->VectorSearch(request).ValueOrDie();
    ASSERT_EQ(table->field(0)->name(), "query");
    ASSERT_EQ(table->num_rows(), 1400);
    const Found found{.rows = Int64Column(*table, "row"), .scores = FloatColumn(*table, "score")};
    const auto& numbers =
        arrow::internal::checked_cast<const arrow::UInt32Array&>(*table->column(0)->chunk(0));
    for (size_t i = 0; i < 200; ++i) {
      VectorSearchRequest single = request;
      single.queries = {request.queries[i]};
      single.number_queries = false;
      const Found alone = Ask(*taken.table, single);
      for (size_t j = 0; j < 7; ++j) {
        EXPECT_EQ(numbers.Value(static_cast<int64_t>(i * 7 + j)), i);
        EXPECT_EQ(found.rows[i * 7 + j], alone.rows[j]);
        EXPECT_EQ(found.scores[i * 7 + j], alone.scores[j]);
      }
    }
  }
}

TEST(VectorProjection, ReadsVectorsBackAsTheirTierKeepsThem) {
  for (const auto& [rerank, error] : std::vector<std::pair<std::string, double>>{
           {"fp32", 0}, {"fp16", 4e-3}, {"sq8_residual", 2e-3}, {"sq8", 5e-2}}) {
    SCOPED_TRACE(rerank);
    Exam exam = MakeExam({.rows = 500, .dimension = 32});
    exam.rerank = rerank;
    const Taken taken = MakeTable(exam, 3);
    VectorSearchRequest request = RequestFor(exam.queries.front(), 500);
    request.projection = std::vector<std::string>{"vec", "row", "vec"};
    const auto found = taken.table->VectorSearch(request).ValueOrDie();
    ASSERT_EQ(found->num_columns(), 3);
    EXPECT_TRUE(found->field(0)->type()->Equals(ExamSchema(32)->field(2)->type()));
    const std::vector<int64_t> rows = Int64Column(*found, "row");
    const auto column = found->column(0);
    ASSERT_EQ(column->num_chunks(), 1);
    const auto& lists =
        arrow::internal::checked_cast<const arrow::FixedSizeListArray&>(*column->chunk(0));
    const auto& values = arrow::internal::checked_cast<const arrow::FloatArray&>(*lists.values());
    for (size_t i = 0; i < rows.size(); ++i) {
      for (size_t j = 0; j < 32; ++j) {
        EXPECT_NEAR(
            values.Value(lists.value_offset(static_cast<int64_t>(i)) + static_cast<int64_t>(j)),
            exam.rows[static_cast<size_t>(rows[i])][j], error);
      }
    }
    // A keyword search gives the same.
    const auto matched = taken.table->TokenMatch(
        {.column = "text", .query = "rare", .projection = std::vector<std::string>{"row", "vec"}});
    ASSERT_THAT(matched, IsOk());
    EXPECT_EQ((*matched)->num_rows(), 5);
  }
}

/// Reciprocal rank fusion as the paper has it.
std::vector<std::pair<int64_t, float>> Fuse(const std::vector<int64_t>& texts, double text_weight,
                                            const std::vector<int64_t>& vectors,
                                            double vector_weight, size_t k) {
  std::map<int64_t, double> scores;
  for (size_t i = 0; i < texts.size(); ++i)
    scores[texts[i]] += text_weight / (61.0 + static_cast<double>(i));
  for (size_t i = 0; i < vectors.size(); ++i)
    scores[vectors[i]] += vector_weight / (61.0 + static_cast<double>(i));
  std::vector<std::pair<float, int64_t>> ranked;
  for (const auto& [row, score] : scores) ranked.emplace_back(-static_cast<float>(score), row);
  std::ranges::sort(ranked);
  std::vector<std::pair<int64_t, float>> fused;
  for (size_t i = 0; i < std::min(k, ranked.size()); ++i) {
    fused.emplace_back(ranked[i].second, -ranked[i].first);
  }
  return fused;
}

TEST(Hybrid, FusesRanksAsThePaperSays) {
  const Exam exam = MakeExam({.kind = Kind::kClusters, .rows = 1500});
  for (const size_t superfiles : {1U, 7U}) {
    const Taken taken = MakeTable(exam, superfiles, 2);
    for (size_t i = 0; i < exam.queries.size(); ++i) {
      HybridSearchRequest request;
      request.text_column = "text";
      request.text = std::vector<std::string>{"rare tenth", "odd", "missing", ""}[i % 4];
      request.vector_column = "vec";
      request.vector = exam.queries[i];
      request.k = 8;
      if (i % 3 == 1) request.depth = 30;
      if (i % 5 == 2) request.text_weight = 2.5;
      if (i % 5 == 3) request.vector_weight = 0;
      if (i % 2 == 1) request.filter = TextFilter{.column = "text", .query = "even"};
      request.effort.target_recall = 1;
      request.projection = std::vector<std::string>{"row", "score"};
      const auto found = taken.table->HybridSearch(request);
      ASSERT_THAT(found, IsOk());

      const uint64_t depth = request.depth.value_or(8);
      VectorSearchRequest vectors = RequestFor(request.vector, depth, request.filter ? "even" : "");
      vectors.effort = request.effort;
      const auto texts = taken.table->Search({.column = "text",
                                              .query = request.text,
                                              .k = 100'000,
                                              .projection = std::vector<std::string>{"row"}});
      ASSERT_THAT(texts, IsOk());
      std::vector<int64_t> text_rows = Int64Column(**texts, "row");
      if (request.filter) std::erase_if(text_rows, [](int64_t row) { return row % 2 != 0; });
      if (text_rows.size() > depth) text_rows.resize(depth);
      std::vector<int64_t> vector_rows;
      if (request.vector_weight > 0) vector_rows = Ask(*taken.table, vectors).rows;
      const auto expected =
          Fuse(text_rows, request.text_weight, vector_rows, request.vector_weight, 8);
      const std::vector<int64_t> rows = Int64Column(**found, "row");
      const std::vector<float> scores = FloatColumn(**found, "score");
      ASSERT_EQ(rows.size(), expected.size());
      for (size_t j = 0; j < rows.size(); ++j) {
        EXPECT_EQ(rows[j], expected[j].first);
        EXPECT_EQ(scores[j], expected[j].second);
      }
    }
  }
}

TEST(VectorInput, RefusesWhatCantBeSearchedFor) {
  const Exam exam = MakeExam({.rows = 20, .dimension = 16});
  const Taken taken = MakeTable(exam, 1);
  const auto expect_refused = [&](const VectorSearchRequest& request, const std::string& says) {
    const auto found = taken.table->VectorSearch(request);
    EXPECT_THAT(found, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(found.status().message(), ::testing::HasSubstr(says));
  };
  VectorSearchRequest request = RequestFor(std::vector<float>(15), 3);
  expect_refused(request, "query vector has 15 dimensions; column 'vec' has 16");
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    request.queries = {std::vector<float>(16), std::vector<float>(16)};
    request.queries[1][5] = bad;
    expect_refused(request, "query vector");
  }
  request = RequestFor(exam.queries.front(), 3);
  request.column = "text";
  expect_refused(request, "no vector index for column 'text'; vector-indexed columns: vec");
  request = RequestFor(exam.queries.front(), 3);
  request.effort.target_recall = 1.5;
  expect_refused(request, "target_recall");
  request.effort = {.target_recall = std::nullopt, .nprobe = 0};
  expect_refused(request, "nprobe");
  request = RequestFor(exam.queries.front(), 3, "even");
  request.filter->column = "row";
  expect_refused(request, "'row'");
  request = RequestFor(exam.queries.front(), 0);
  EXPECT_TRUE(Ask(*taken.table, request).rows.empty());
  request.queries.clear();
  request.k = 5;
  EXPECT_TRUE(Ask(*taken.table, request).rows.empty());
}

TEST(VectorInput, AnswersOverZerosAndEmptyTables) {
  Exam exam = MakeExam({.rows = 30, .dimension = 16});
  exam.rows[4].assign(16, 0);
  const Taken taken = MakeTable(exam, 1);
  const Found found = Ask(*taken.table, RequestFor(exam.rows[7], 30));
  ASSERT_EQ(found.rows.size(), 30U);
  EXPECT_EQ(found.rows.front(), 7);
  const auto zero = std::ranges::find(found.rows, 4) - found.rows.begin();
  EXPECT_EQ(found.scores[static_cast<size_t>(zero)], 1);
  const Found of_zero = Ask(*taken.table, RequestFor(std::vector<float>(16), 30));
  EXPECT_THAT(of_zero.scores, ::testing::Each(1.0F));

  const auto empty =
      taken.connection->CreateTable("empty", ExamSchema(16), IndexSpec().Vector("vec"))
          .ValueOrDie();
  EXPECT_TRUE(Ask(*empty, RequestFor(std::vector<float>(16, 1), 3)).rows.empty());
}

}  // namespace
}  // namespace infino
