#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

/// A corpus dealt out to several superfiles, in order.
struct Split {
  std::vector<BuiltIndex> indexes;
  std::vector<DocId> first_docs;
};

Split SplitUp(Random& random, const Corpus& corpus, size_t count) {
  std::vector<size_t> cuts = {0, corpus.size()};
  for (size_t i = 1; i < count; ++i) cuts.push_back(random.Below(corpus.size() + 1));
  std::ranges::sort(cuts);
  Split split;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = corpus.begin() + static_cast<ptrdiff_t>(cuts[i]);
    const auto end = corpus.begin() + static_cast<ptrdiff_t>(cuts[i + 1]);
    TextIndexOptions options;
    options.positions = true;
    split.indexes.push_back(Build(Corpus(begin, end), options));
    split.first_docs.push_back(static_cast<DocId>(cuts[i]));
  }
  return split;
}

/// Searches all superfiles as an executor does, and merges what they found.
std::vector<ScoredDoc> RankSplit(const Split& split, const TextQuery& query,
                                 TextSearchOptions options, Random& random) {
  SharedFloor floor;
  options.floor = &floor;
  std::vector<std::unique_ptr<TextSearch>> searches;
  for (const BuiltIndex& index : split.indexes) {
    searches.push_back(TextSearch::Make(*index.reader, query, nullptr, options).ValueOrDie());
    Check(Drive(*searches.back(), *index.blob));
  }
  const TextStatistics statistics = Sum(split.indexes, searches);
  std::vector<size_t> order(searches.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  std::vector<ScoredDoc> merged;
  const auto take = [&](size_t i) {
    for (ScoredDoc doc : searches[i]->TopDocs()) {
      doc.doc += split.first_docs[i];
      merged.push_back(doc);
    }
  };
  std::vector<size_t> waiting;
  for (const size_t i : order) {
    Check(searches[i]->SetStatistics(statistics));
    if (searches[i]->UpperBound() < floor.score()) continue;
    Check(Drive(*searches[i], *split.indexes[i].blob));
    if (searches[i]->wants_synonym_frequencies()) {
      waiting.push_back(i);
      continue;
    }
    take(i);
  }
  std::vector<int64_t> synonyms;
  for (const size_t i : waiting) {
    const std::span<const int64_t> here = searches[i]->synonym_frequencies();
    synonyms.resize(here.size());
    for (size_t k = 0; k < here.size(); ++k) synonyms[k] += here[k];
  }
  for (const size_t i : waiting) {
    Check(searches[i]->SetSynonymFrequencies(synonyms));
    Check(Drive(*searches[i], *split.indexes[i].blob));
    take(i);
  }
  std::ranges::sort(merged, RanksBefore);
  if (merged.size() > options.k) merged.resize(options.k);
  return merged;
}

TEST(TextStatistics, LayoutNeverShows) {
  Random random(TestSeed() + 10);
  const std::vector<CorpusShape> shapes = {
      {.rows = 2000, .vocabulary = 500, .length_max = 50},
      {.rows = 6000, .vocabulary = 5, .length_max = 4, .skew = 0},
      {.rows = 3000, .vocabulary = 3000, .length_max = 100, .null_share = 0.3},
  };
  for (const CorpusShape& shape : shapes) {
    const Corpus corpus = RandomCorpus(random, shape);
    const Oracle oracle(corpus);
    for (const size_t count : std::vector<size_t>{1, 2, 7}) {
      const Split split = SplitUp(random, corpus, count);
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
    const Split split = SplitUp(random, corpus, count);
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
