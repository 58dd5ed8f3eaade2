#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <arrow/table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/options.h"
#include "infino/search.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/random_table.h"
#include "support/reference_search.h"
#include "support/seed.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using ::testing::Eq;

/// A query with all that it should find.
struct Question {
  ReferenceQuery query;
  std::vector<ReferenceHit> hits;
  std::vector<int64_t> rows;
};

/// Texts, and questions over them with the reference's answers. Made once.
struct Exam {
  std::vector<NullableText> texts;
  std::vector<Question> questions;
};

Exam MakeExam(uint64_t seed, const RandomTextOptions& options, size_t question_count) {
  Random random(seed);
  Exam exam;
  exam.texts = RandomTexts(random, options);
  const ReferenceSearch reference(exam.texts, {});
  for (size_t i = 0; i < question_count; ++i) {
    // Mostly short, as people type, but some as long as agents send.
    const size_t clauses_max = i % 8 == 7 ? 40 : 4;
    Question question;
    question.query = RandomQuery(random, options.vocabulary, clauses_max);
    question.hits = reference.Search(question.query);
    question.rows = reference.Match(question.query);
    exam.questions.push_back(std::move(question));
  }
  return exam;
}

const Exam& LargeExam() {
  static const Exam kExam = MakeExam(TestSeed(), {.row_count = 5000, .vocabulary = 400}, 60);
  return kExam;
}

/// A table of the exam's texts in so many superfiles.
std::shared_ptr<Table> MakeTable(Connection& connection, const std::vector<NullableText>& texts,
                                 size_t superfiles) {
  auto table = connection.CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
  const std::vector<size_t> bounds = CutEvenly(texts.size(), superfiles);
  for (size_t i = 0; i < superfiles; ++i) {
    const auto part = std::span(texts).subspan(bounds[i], bounds[i + 1] - bounds[i]);
    MustSucceed(table->Append(ReaderOf(part, static_cast<int64_t>(bounds[i]))).status());
  }
  return table;
}

std::vector<ReferenceHit> HitsOf(const arrow::Table& found) {
  const std::vector<int64_t> rows = Int64Column(found, "row");
  const std::vector<float> scores = FloatColumn(found, "score");
  std::vector<ReferenceHit> hits;
  for (size_t i = 0; i < rows.size(); ++i) hits.push_back({.row = rows[i], .score = scores[i]});
  return hits;
}

std::string Describe(const Question& question) {
  return (question.query.mode == MatchMode::kAnd ? "all of: " : "any of: ") + question.query.Text();
}

void ExpectTopK(Table& table, const Exam& exam, const Question& question, uint64_t k) {
  SCOPED_TRACE(Describe(question) + "; k=" + std::to_string(k));
  const auto found =
      table.Search({.column = "text",
                    .query = question.query.Text(),
                    .k = k,
                    .mode = question.query.mode,
                    .projection = std::vector<std::string>{"row", "score", "_id", "text"}});
  ASSERT_THAT(found, IsOk());
  ASSERT_THAT((*found)->ValidateFull(), IsOk());
  std::vector<ReferenceHit> expected = question.hits;
  if (expected.size() > k) expected.resize(k);
  const std::vector<ReferenceHit> hits = HitsOf(**found);
  ASSERT_EQ(hits.size(), expected.size());
  const std::vector<NullableText> texts = TextColumn(**found, "text");
  for (size_t i = 0; i < hits.size(); ++i) {
    ASSERT_EQ(hits[i].row, expected[i].row) << "at rank " << i;
    ASSERT_EQ(hits[i].score, expected[i].score) << "at rank " << i;
    ASSERT_EQ(texts[i], exam.texts[static_cast<size_t>(hits[i].row)]);
  }
}

void ExpectMatches(Table& table, const Question& question) {
  SCOPED_TRACE(Describe(question));
  const auto found = table.TokenMatch({.column = "text",
                                       .query = question.query.Text(),
                                       .mode = question.query.mode,
                                       .projection = std::vector<std::string>{"row", "_id"}});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(Int64Column(**found, "row"), question.rows);
  const std::vector<RowId> ids = IdColumn(**found);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_THAT(
      table.Count({.column = "text", .query = question.query.Text(), .mode = question.query.mode}),
      HasValue(Eq(question.rows.size())));
}

/// How the rows lie, and who searches them. None of it may show.
struct Layout {
  size_t superfiles = 1;
  int thread_count = 1;
  bool local = false;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.superfiles << " superfiles, " << layout.thread_count << " threads, "
       << (layout.local ? "local" : "memory");
}

class SearchOracle : public ::testing::TestWithParam<Layout> {
 protected:
  SearchOracle()
      : connection_(Connect(GetParam().local ? folder_.path() : "memory://",
                            {.thread_count = GetParam().thread_count})
                        .ValueOrDie()),
        table_(MakeTable(*connection_, LargeExam().texts, GetParam().superfiles)) {}

  TemporaryFolder folder_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Table> table_;
};

TEST_P(SearchOracle, FindsWhatTheTextbookFindsBitForBit) {
  const Exam& exam = LargeExam();
  ASSERT_EQ(table_->Stats()->superfiles, GetParam().superfiles);
  for (const Question& question : exam.questions) {
    for (const uint64_t k :
         {uint64_t{1}, uint64_t{10}, uint64_t{100}, uint64_t{1000}, ~uint64_t{0}}) {
      ASSERT_NO_FATAL_FAILURE(ExpectTopK(*table_, exam, question, k));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectMatches(*table_, question));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, SearchOracle,
    ::testing::Values(Layout{.superfiles = 1, .thread_count = 1},
                      Layout{.superfiles = 1, .thread_count = 8, .local = true},
                      Layout{.superfiles = 7, .thread_count = 1, .local = true},
                      Layout{.superfiles = 7, .thread_count = 8},
                      Layout{.superfiles = 60, .thread_count = 1},
                      Layout{.superfiles = 60, .thread_count = 8, .local = true},
                      Layout{.superfiles = 300, .thread_count = 2}));

TEST(SearchOracleParameters, ScoresWithTheParametersOfTheCall) {
  const Exam& exam = LargeExam();
  const ReferenceSearch reference(exam.texts, {});
  const auto connection = Connect("memory://").ValueOrDie();
  const auto table = MakeTable(*connection, exam.texts, 3);
  for (const auto& [k1, b] : {std::pair{0.3, 0.0}, std::pair{2.5, 1.0}, std::pair{1.2, 0.1}}) {
    for (size_t i = 0; i < 20; ++i) {
      Question question = exam.questions[i];
      question.hits = reference.Search(question.query, k1, b);
      const auto found = table->Search({.column = "text",
                                        .query = question.query.Text(),
                                        .k = 50,
                                        .mode = question.query.mode,
                                        .projection = std::vector<std::string>{"row", "score"},
                                        .k1 = k1,
                                        .b = b});
      ASSERT_THAT(found, IsOk());
      if (question.hits.size() > 50) question.hits.resize(50);
      ASSERT_EQ(HitsOf(**found), question.hits) << Describe(question);
    }
  }
}

/// Small tables in many shapes: where most rows tie, where most are empty, of one word.
TEST(SearchOracleShapes, HoldsOnSmallTablesOfEveryShape) {
  Random random(TestSeed() + 1);
  for (int round = 0; round < 40; ++round) {
    const RandomTextOptions options{.row_count = 1 + random.Below(200),
                                    .vocabulary = 1 + random.Below(20),
                                    .words_max = 2 + random.Below(6),
                                    .null_share = round % 5 == 0 ? 0.5 : 0.05,
                                    .empty_share = round % 7 == 0 ? 0.5 : 0.05};
    const Exam exam = MakeExam(random.Next(), options, 10);
    const auto connection = Connect("memory://", {.thread_count = 1 + round % 3}).ValueOrDie();
    const size_t superfiles = 1 + random.Below(std::min<size_t>(exam.texts.size(), 12));
    const auto table = MakeTable(*connection, exam.texts, superfiles);
    for (const Question& question : exam.questions) {
      for (const uint64_t k : {uint64_t{1}, uint64_t{3}, uint64_t{10}, uint64_t{1000}}) {
        ASSERT_NO_FATAL_FAILURE(ExpectTopK(*table, exam, question, k)) << "round " << round;
      }
      ASSERT_NO_FATAL_FAILURE(ExpectMatches(*table, question)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace infino
