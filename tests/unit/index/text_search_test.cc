#include "infino/index/text/text_search.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Describe(const TextQuery& query) {
  std::string text;
  for (const TextClause& clause : query.clauses) {
    if (clause.occur == Occur::kMust) text += '+';
    if (clause.occur == Occur::kMustNot) text += '-';
    for (const ClauseTerm& term : query.TermsOf(clause)) {
      text += (term.position > 0 ? "_" : "") + query.terms[term.term];
    }
    text += clause.kind == ClauseKind::kPrefix ? "* " : " ";
  }
  return text;
}

/// Every corpus exercises another part of the format or of the scan.
const std::vector<CorpusShape>& Shapes() {
  static const std::vector<CorpusShape> kShapes = {
      {.rows = 1, .vocabulary = 3, .length_min = 1, .length_max = 3, .null_share = 0},
      {.rows = 300, .vocabulary = 50, .length_max = 5},
      {.rows = 3000, .vocabulary = 2000, .length_max = 60},
      {.rows = 9000, .vocabulary = 20000, .length_max = 20, .null_share = 0.1},
      {.rows = 5000, .vocabulary = 8, .length_max = 12, .skew = 0},
      {.rows = 150, .vocabulary = 400, .length_min = 500, .length_max = 3000},
      {.rows = 20000, .vocabulary = 40, .length_max = 3, .null_share = 0.5},
  };
  return kShapes;
}

DocFilter RandomFilter(Random& random, uint32_t rows) {
  DocFilter filter(rows);
  const double share = random.Unit();
  for (DocId doc = 0; doc < rows; ++doc) {
    if (random.Unit() < share) filter.Exclude(doc);
  }
  return filter;
}

TEST(TextSearch, RanksAsTheTextbookDoesAtEveryK) {
  Random random(TestSeed());
  for (const CorpusShape& shape : Shapes()) {
    const Corpus corpus = RandomCorpus(random, shape);
    const BuiltIndex index = Build(corpus);
    const Oracle oracle(corpus);
    for (int i = 0; i < 60; ++i) {
      const TextQuery query = RandomQuery(random, shape.vocabulary, i % 3 == 0 ? 20 : 4);
      const std::optional<DocFilter> filter =
          i % 4 == 0 ? std::optional(RandomFilter(random, shape.rows)) : std::nullopt;
      const DocFilter* passes = filter.has_value() ? &*filter : nullptr;
      const double k1 = i % 2 == 0 ? 1.2 : random.Unit() * 3;
      const double b = i % 2 == 0 ? 0.75 : (i % 10 == 5 ? 0 : random.Unit());
      for (const uint64_t k : {uint64_t{1}, uint64_t{10}, uint64_t{100}, uint64_t{1000},
                               std::numeric_limits<uint64_t>::max()}) {
        const std::vector<ScoredDoc> expected = oracle.Rank(query, k1, b, k, passes);
        for (const bool prune : {true, false}) {
          const TextSearchOptions options{.k = k, .k1 = k1, .b = b, .prune = prune};
          ASSERT_THAT(Rank(index, query, options, passes), HasValue(expected))
              << Describe(query) << " k=" << k << " prune=" << prune << " rows=" << shape.rows;
        }
      }
    }
  }
}

TEST(TextSearch, PhrasesAndPrefixesRankAndMatchAsTheTextbookDoes) {
  Random random(TestSeed() + 4);
  const std::vector<CorpusShape> shapes = {
      {.rows = 1, .vocabulary = 3, .length_min = 1, .length_max = 3, .null_share = 0},
      {.rows = 300, .vocabulary = 12, .length_max = 8},
      {.rows = 1500, .vocabulary = 60, .length_max = 40},
      {.rows = 700, .vocabulary = 3000, .length_max = 20, .null_share = 0.1},
      {.rows = 60, .vocabulary = 30, .length_min = 200, .length_max = 900},
  };
  for (const CorpusShape& shape : shapes) {
    const Corpus corpus = RandomCorpus(random, shape);
    TextIndexOptions options;
    options.positions = true;
    const BuiltIndex index = Build(corpus, options);
    const Oracle oracle(corpus);
    for (int i = 0; i < 40; ++i) {
      const TextQuery query =
          RandomRichQuery(random, corpus, shape.vocabulary, i % 4 == 0 ? 12 : 3);
      const std::optional<DocFilter> filter =
          i % 4 == 0 ? std::optional(RandomFilter(random, shape.rows)) : std::nullopt;
      const DocFilter* passes = filter.has_value() ? &*filter : nullptr;
      for (const uint64_t k : {uint64_t{1}, uint64_t{10}, uint64_t{1000}}) {
        const std::vector<ScoredDoc> expected = oracle.Rank(query, 1.2, 0.75, k, passes);
        for (const bool prune : {true, false}) {
          ASSERT_THAT(Rank(index, query, {.k = k, .prune = prune}, passes), HasValue(expected))
              << Describe(query) << " k=" << k << " prune=" << prune << " rows=" << shape.rows;
        }
      }
      const std::vector<DocId> matches = oracle.Match(query, passes);
      ASSERT_THAT(MatchAll(index, query, passes), HasValue(matches)) << Describe(query);
      ASSERT_THAT(CountAll(index, query, passes), HasValue(matches.size())) << Describe(query);
    }
  }
}

TEST(TextSearch, APrefixOfTooManyTermsScoresAsOneTerm) {
  Random random(TestSeed() + 5);
  Corpus corpus;
  for (int row = 0; row < 3000; ++row) {
    std::string text = random.Below(3) == 0 ? "other" : "w";
    for (uint64_t i = random.Below(8); i > 0; --i)
      text += " w" + std::to_string(random.Below(9000));
    corpus.emplace_back(text);
  }
  const BuiltIndex index = Build(corpus);
  const Oracle oracle(corpus);
  for (const char* text : {"w*", "other w*", "+other w*", "w1* w*", "-other w*", "w2* +w*"}) {
    const std::vector<ScoredDoc> expected = oracle.Rank(QueryOf(text), 1.2, 0.75, 20);
    ASSERT_EQ(expected.size(), 20);
    EXPECT_THAT(Rank(index, QueryOf(text), {.k = 20}), HasValue(expected)) << text;
  }
}

TEST(TextSearch, AnswersFromTheCacheAreTheSame) {
  Random random(TestSeed() + 6);
  const CorpusShape shape{.rows = 5000, .vocabulary = 700, .length_max = 30};
  const Corpus corpus = RandomCorpus(random, shape);
  TextIndexOptions options;
  options.positions = true;
  const BuiltIndex index = Build(corpus, options);
  const Oracle oracle(corpus);
  // From one that keeps everything to one that keeps next to nothing.
  for (const int64_t budget : {int64_t{64} << 20, int64_t{1} << 16, int64_t{0}}) {
    PostingsCache cache(budget);
    for (int i = 0; i < 150; ++i) {
      const TextQuery query = RandomRichQuery(random, corpus, 30, 4);
      const double k1 = i % 3 == 0 ? 2.0 : 1.2;
      const TextSearchOptions search{.k = 10, .k1 = k1, .cache = &cache};
      ASSERT_THAT(Rank(index, query, search), HasValue(oracle.Rank(query, k1, 0.75, 10)))
          << Describe(query);
      ASSERT_LE(cache.size_bytes(), budget);
    }
  }
  PostingsCache cache(int64_t{64} << 20);
  const TextQuery query = QueryOf(WordOfRank(0) + " " + WordOfRank(9));
  INFINO_ASSERT_OK(Rank(index, query, {.cache = &cache}));
  Rounds rounds;
  INFINO_ASSERT_OK(Rank(index, query, {.cache = &cache}, nullptr, &rounds));
  EXPECT_EQ(rounds.rounds, 0);
}

TEST(TextSearch, MatchesAndCountsWhatTheTextbookMatches) {
  Random random(TestSeed() + 1);
  for (const CorpusShape& shape : Shapes()) {
    const Corpus corpus = RandomCorpus(random, shape);
    const BuiltIndex index = Build(corpus);
    const Oracle oracle(corpus);
    for (int i = 0; i < 60; ++i) {
      const TextQuery query = RandomQuery(random, shape.vocabulary, 6);
      const std::optional<DocFilter> filter =
          i % 2 == 0 ? std::optional(RandomFilter(random, shape.rows)) : std::nullopt;
      const DocFilter* passes = filter.has_value() ? &*filter : nullptr;
      const std::vector<DocId> expected = oracle.Match(query, passes);
      ASSERT_THAT(MatchAll(index, query, passes), HasValue(expected)) << Describe(query);
      ASSERT_THAT(CountAll(index, query, passes), HasValue(expected.size())) << Describe(query);
    }
  }
}

/// Words from dense to very rare, of some in one stretch only, over more rows than any window
/// spans.
TEST(TextSearch, SparseWordsOfManyRowsAreFoundAsTheTextbookDoes) {
  Random random(TestSeed() + 5);
  constexpr uint32_t kRows = 150'000;
  const std::vector<uint64_t> gaps = {3, 40, 300, 1500, 9000, 40'000};
  Corpus corpus;
  for (uint32_t row = 0; row < kRows; ++row) {
    std::string text(random.Below(3), 'x');
    for (size_t i = 0; i < gaps.size(); ++i) {
      const bool in_stretch = i % 2 == 0 || row / 20'000 % 3 == 1;
      for (int times = 0; times < 2 && in_stretch && random.Below(gaps[i]) == 0; ++times) {
        text += " w" + std::to_string(i);
      }
    }
    corpus.emplace_back(std::move(text));
  }
  const BuiltIndex index = Build(corpus);
  const Oracle oracle(corpus);
  for (const char* words :
       {"w1 w2 w3", "w0 w2 w4", "w4 w5", "w0 w5 w3 w2", "w0 w2 +w3", "w2 w3 -w1"}) {
    const TextQuery query = QueryOf(words);
    const std::vector<DocId> matches = oracle.Match(query);
    EXPECT_THAT(CountAll(index, query), HasValue(matches.size())) << words;
    EXPECT_THAT(MatchAll(index, query), HasValue(matches)) << words;
    for (const uint64_t k : {uint64_t{3}, uint64_t{500}}) {
      const std::vector<ScoredDoc> expected = oracle.Rank(query, 1.2, 0.75, k);
      EXPECT_THAT(Rank(index, query, {.k = k}), HasValue(expected)) << words << " k=" << k;
      EXPECT_THAT(Rank(index, query, {.k = k, .prune = false}), HasValue(expected)) << words;
    }
  }
}

TEST(TextSearch, EqualDocumentsComeInTheirOrder) {
  const Corpus corpus(10'000, "a b c");
  const BuiltIndex index = Build(corpus);
  INFINO_ASSERT_OK_AND_ASSIGN(const std::vector<ScoredDoc> top,
                              Rank(index, QueryOf("a c"), {.k = 300}));
  ASSERT_EQ(top.size(), 300);
  for (DocId doc = 0; doc < 300; ++doc) EXPECT_EQ(top[doc].doc, doc);
}

TEST(TextSearch, RepeatedWordsCountEachTime) {
  const Corpus corpus = {"fox", "dog fox", "dog dog"};
  const BuiltIndex index = Build(corpus);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto once, Rank(index, QueryOf("fox"), {.k = 1}));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto twice, Rank(index, QueryOf("fox fox"), {.k = 1}));
  EXPECT_FLOAT_EQ(twice[0].score, 2 * once[0].score);
}

TEST(TextSearch, EmptyQueriesAndIndexesFindNothing) {
  for (const Corpus& corpus : {Corpus{}, Corpus{std::nullopt, "", " "}, Corpus{"a"}}) {
    const BuiltIndex index = Build(corpus);
    EXPECT_THAT(Rank(index, QueryOf(""), {}), HasValue(IsEmpty()));
    EXPECT_THAT(Rank(index, QueryOf("zebra"), {}), HasValue(IsEmpty()));
    EXPECT_THAT(Rank(index, QueryOf("zebra +a"), {.k = 0}), HasValue(IsEmpty()));
    EXPECT_THAT(MatchAll(index, QueryOf("zebra")), HasValue(IsEmpty()));
    EXPECT_THAT(CountAll(index, QueryOf("")), HasValue(uint64_t{0}));
  }
}

TEST(TextSearch, KZeroFindsNothing) {
  const BuiltIndex index = Build({"a", "a b"});
  EXPECT_THAT(Rank(index, QueryOf("a"), {.k = 0}), HasValue(IsEmpty()));
}

TEST(TextSearch, RejectsParametersThatBm25DoesNotHave) {
  const BuiltIndex index = Build({"a"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const TextSearchOptions& options :
       {TextSearchOptions{.k1 = -1}, TextSearchOptions{.k1 = nan}, TextSearchOptions{.b = 1.5},
        TextSearchOptions{.b = nan},
        TextSearchOptions{.k1 = std::numeric_limits<double>::infinity()}}) {
    EXPECT_THAT(TextSearch::Make(*index.reader, QueryOf("a"), nullptr, options),
                IsError(ErrorKind::kInvalidArgument));
  }
}

TEST(TextSearch, RejectsPhrasesWithoutPositions) {
  const BuiltIndex index = Build({"a b"});
  TextQuery query = QueryOf("a b");
  query.clauses = {{.kind = ClauseKind::kPhrase, .terms_begin = 0, .terms_end = 2}};
  EXPECT_THAT(TextSearch::Make(*index.reader, query, nullptr, {}),
              IsError(ErrorKind::kInvalidArgument));
}

TEST(TextSearch, RejectsStatisticsThatContradictTheIndex) {
  const BuiltIndex index = Build({"a", "a b", "b"});
  const TextQuery query = QueryOf("a");
  const std::vector<TextStatistics> wrong = {
      {.rows_with_token = 2, .token_total = 4, .document_frequencies = {2}},
      {.rows_with_token = 3, .token_total = 2, .document_frequencies = {2}},
      {.rows_with_token = 3, .token_total = 4, .document_frequencies = {1}},
      {.rows_with_token = 3, .token_total = 4, .document_frequencies = {4}},
      {.rows_with_token = 3, .token_total = 4, .document_frequencies = {}},
  };
  for (const TextStatistics& statistics : wrong) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto search,
                                TextSearch::Make(*index.reader, query, nullptr, {}));
    EXPECT_THAT(search->SetStatistics(statistics), IsError(ErrorKind::kInvalidArgument));
  }
}

TEST(TextSearch, TakesNoMoreRoundsThanItDeclares) {
  Random random(TestSeed() + 2);
  const CorpusShape shape{.rows = 4000, .vocabulary = 5000, .length_max = 30};
  const BuiltIndex index = Build(RandomCorpus(random, shape));
  ASSERT_FALSE(index.reader->inline_dictionary().has_value());
  for (int i = 0; i < 50; ++i) {
    Rounds rounds;
    INFINO_ASSERT_OK(Rank(index, RandomQuery(random, shape.vocabulary, 8), {}, nullptr, &rounds));
    EXPECT_LE(rounds.rounds, 2);
  }
  const std::string common = WordOfRank(0);
  Rounds count;
  INFINO_ASSERT_OK(CountAll(index, QueryOf(common), nullptr, &count));
  EXPECT_EQ(count.rounds, 1);
  EXPECT_EQ(count.ranges, 1);
  Rounds absent;
  INFINO_ASSERT_OK(Rank(index, QueryOf("zzzzzzzz"), {}, nullptr, &absent));
  EXPECT_EQ(absent.rounds, 0);
}

TEST(TextSearch, SmallDictionariesCostNoRound) {
  const BuiltIndex index = Build({"a", "b a", "c"});
  ASSERT_TRUE(index.reader->inline_dictionary().has_value());
  Rounds rounds;
  INFINO_ASSERT_OK(CountAll(index, QueryOf("a"), nullptr, &rounds));
  INFINO_ASSERT_OK(Rank(index, QueryOf("c"), {}, nullptr, &rounds));  // in one document
  EXPECT_EQ(rounds.rounds, 0);
  INFINO_ASSERT_OK(Rank(index, QueryOf("a"), {}, nullptr, &rounds));
  EXPECT_EQ(rounds.rounds, 1);
}

TEST(TextSearch, LongListsTakeNoMoreRoundsThanShortOnes) {
  // Frequencies that pack badly, so that the list has megabytes.
  Random random(TestSeed() + 3);
  std::string many = "a";
  for (int i = 0; i < 260; ++i) many += " a";
  Corpus corpus;
  for (int row = 0; row < 1'200'000; ++row) {
    corpus.emplace_back(random.Below(32) == 0 ? many : random.Below(8) == 0 ? "b" : "a");
  }
  const BuiltIndex index = Build(corpus);
  Rounds rounds;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto top,
                              Rank(index, QueryOf("a b"), {.k = 50}, nullptr, &rounds));
  EXPECT_EQ(rounds.rounds, 1);
  const Oracle oracle(corpus);
  EXPECT_EQ(top, oracle.Rank(QueryOf("a b"), 1.2, 0.75, 50));
  EXPECT_THAT(MatchAll(index, QueryOf("b a")), HasValue(oracle.Match(QueryOf("b a"))));
}

}  // namespace
}  // namespace infino::text
