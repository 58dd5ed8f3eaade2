#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

TEST(TextStatistics, LayoutNeverShows) {
  Random random(TestSeed() + 10);
  TextIndexOptions positions;
  positions.positions = true;
  const std::vector<CorpusShape> shapes = {
      {.rows = 2000, .vocabulary = 500, .length_max = 50},
      {.rows = 6000, .vocabulary = 5, .length_max = 4, .skew = 0},
      {.rows = 3000, .vocabulary = 3000, .length_max = 100, .null_share = 0.3},
  };
  for (const CorpusShape& shape : shapes) {
    const Corpus corpus = RandomCorpus(random, shape);
    const Oracle oracle(corpus);
    for (const size_t count : std::vector<size_t>{1, 2, 7}) {
      const Split split = SplitUp(random, corpus, count, positions);
      for (int i = 0; i < 40; ++i) {
        const TextQuery query = i % 4 == 0 ? RandomRichQuery(random, corpus, shape.vocabulary, 3)
                                           : RandomQuery(random, shape.vocabulary, 8);
        for (const uint64_t k : std::vector<uint64_t>{1, 10, 200}) {
          const std::vector<ScoredDoc> expected = oracle.Rank(query, 1.2, 0.75, k);
          ASSERT_EQ(RankSplit(split, query, {.k = k}, random), expected) << "k=" << k;
          ASSERT_EQ(RankSplit(split, query, {.k = k, .prune = false}, random), expected);
        }
      }
    }
  }
}

TEST(TextStatistics, SynonymsCountInAllSuperfiles) {
  Random random(TestSeed() + 12);
  TextIndexOptions positions;
  positions.positions = true;
  Corpus corpus;
  for (int row = 0; row < 2500; ++row) {
    // In some superfiles nothing else matches, and in some there is no word of the prefix.
    std::string text = row < 1000 ? "here" : "there";
    for (uint64_t i = row % 1250 < 900 ? random.Below(9) : 0; i > 0; --i) {
      text += " w" + std::to_string(random.Below(8000));
    }
    corpus.emplace_back(text);
  }
  const Oracle oracle(corpus);
  for (const size_t count : std::vector<size_t>{1, 3, 9}) {
    const Split split = SplitUp(random, corpus, count, positions);
    for (const char* text : {"w*", "+here w*", "there w* w1*"}) {
      ASSERT_EQ(RankSplit(split, QueryOf(text), {.k = 15}, random),
                oracle.Rank(QueryOf(text), 1.2, 0.75, 15))
          << text << " in " << count;
    }
  }
}

TEST(TextStatistics, AnIndexSumsUpItsRows) {
  Random random(TestSeed() + 11);
  const Corpus corpus = RandomCorpus(random, {.rows = 5000, .vocabulary = 900, .null_share = 0.2});
  const Oracle oracle(corpus);
  const BuiltIndex index = Build(corpus);
  const TextIndexSummary& summary = index.finished.summary;
  EXPECT_EQ(summary, index.reader->summary());
  EXPECT_EQ(summary.row_count, 5000);
  EXPECT_EQ(summary.rows_with_token, oracle.rows_with_token());
  EXPECT_EQ(summary.token_total, oracle.token_total());
  EXPECT_EQ(summary.term_count, static_cast<int64_t>(oracle.postings().size()));
  EXPECT_EQ(summary.min_term, oracle.postings().begin()->first);
  EXPECT_EQ(summary.max_term, oracle.postings().rbegin()->first);
}

}  // namespace
}  // namespace infino::text
