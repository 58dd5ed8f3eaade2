#include "infino/index/text/pattern_search.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/text_pattern.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Outcome {
  std::optional<std::vector<DocId>> docs;
  int rounds = 0;
};

Outcome OutcomeOf(const BuiltIndex& index, const TextPattern& pattern,
                  PostingsCache* cache = nullptr) {
  const auto search = PatternSearch::Make(*index.reader, pattern, cache);
  Check(search->Resume());
  Outcome outcome;
  while (true) {
    const std::vector<ByteRange> reads = search->NextReads();
    if (reads.empty()) break;
    ++outcome.rounds;
    Buffers bytes;
    for (const ByteRange& read : reads) {
      bytes.push_back(arrow::SliceBuffer(index.blob, read.offset, read.length));
    }
    Check(search->Feed(std::move(bytes)));
  }
  if (!search->candidates().has_value()) return outcome;
  outcome.docs.emplace();
  search->candidates()->ForEach([&](DocId doc) { outcome.docs->push_back(doc); });
  return outcome;
}

TextPattern Containing(std::string_view part) {
  return {.pieces = {std::string(part)}};
}

TEST(PatternSearch, FindsWhatHasThePartWithinAWord) {
  const BuiltIndex index = Build({"my djangoapp", "django", std::nullopt, "flask", "jang o", "",
                                  "x", "y", "z", "w", "v", "u"});
  EXPECT_THAT(OutcomeOf(index, Containing("django")).docs, ::testing::Optional(ElementsAre(0, 1)));
  EXPECT_THAT(OutcomeOf(index, Containing(" django")).docs, ::testing::Optional(ElementsAre(0, 1)));
  EXPECT_THAT(OutcomeOf(index, Containing("django ")).docs, ::testing::Optional(ElementsAre(1)));
  EXPECT_THAT(OutcomeOf(index, Containing("pony")).docs, ::testing::Optional(IsEmpty()));
}

TEST(PatternSearch, SaysNothingWhereTheTermsDoNot) {
  TextIndexOptions stemmed;
  stemmed.stemmer = "english";
  EXPECT_EQ(OutcomeOf(Build({"running dogs", "x"}, stemmed), Containing("running ")).docs,
            std::nullopt);
  const BuiltIndex index = Build({"a dog", "two dogs", "dog", "x"});
  EXPECT_EQ(OutcomeOf(index, Containing("..")).docs, std::nullopt);
  EXPECT_EQ(OutcomeOf(index, Containing("dogs")).docs, std::nullopt) << "most have it";
  TextIndexOptions with_stop_words;
  with_stop_words.stopwords = "english";
  EXPECT_EQ(
      OutcomeOf(Build({"the", "x", "y", "z", "w"}, with_stop_words), Containing(" the ")).docs,
      std::nullopt);
}

TEST(PatternSearch, FindsAllDocumentsThatFitOfAnyIndex) {
  Random random(TestSeed());
  PostingsCache cache(int64_t{8} << 20);
  size_t narrowed = 0;
  for (const CorpusShape& shape :
       {CorpusShape{.rows = 1, .vocabulary = 3, .length_min = 1, .length_max = 3},
        CorpusShape{.rows = 3000, .vocabulary = 2000, .length_max = 20},
        CorpusShape{.rows = 9000, .vocabulary = 20000, .length_max = 20, .null_share = 0.1}}) {
    const Corpus corpus = RandomCorpus(random, shape);
    TextIndexOptions options;
    options.positions = random.Below(2) == 0;
    const BuiltIndex index = Build(corpus, options);
    for (int i = 0; i < 60; ++i) {
      const auto& source = corpus[random.Below(corpus.size())];
      if (!source.has_value() || source->empty()) continue;
      const size_t from = random.Below(source->size());
      const std::string part = source->substr(from, 2 + random.Below(12));
      const Outcome cold = OutcomeOf(index, Containing(part));
      const Outcome warm = OutcomeOf(index, Containing(part), &cache);
      EXPECT_LE(cold.rounds, 3);
      EXPECT_EQ(cold.docs, warm.docs) << part;
      EXPECT_EQ(cold.docs, OutcomeOf(index, Containing(part), &cache).docs) << part;
      if (!cold.docs.has_value()) continue;
      ++narrowed;
      size_t at = 0;
      for (DocId doc = 0; doc < corpus.size(); ++doc) {
        if (!corpus[doc].has_value() || corpus[doc]->find(part) == std::string::npos) continue;
        while (at < cold.docs->size() && (*cold.docs)[at] < doc) ++at;
        ASSERT_TRUE(at < cold.docs->size() && (*cold.docs)[at] == doc) << part << " in " << doc;
      }
    }
  }
  EXPECT_GT(narrowed, 30U);
}

TEST(PatternSearch, ReadsTheDictionaryOnce) {
  Random random(TestSeed());
  const Corpus corpus =
      RandomCorpus(random, {.rows = 4000, .vocabulary = 9000, .length_min = 1, .length_max = 9});
  const BuiltIndex index = Build(corpus);
  PostingsCache cache(int64_t{64} << 20);
  const std::string part = " " + WordOfRank(700);
  EXPECT_EQ(OutcomeOf(index, Containing(part), &cache).rounds, 3);
  EXPECT_EQ(OutcomeOf(index, Containing(part), &cache).rounds, 0);
}

TEST(PatternSearch, DoesNotReadTheDictionaryForWholeWords) {
  Random random(TestSeed());
  const Corpus corpus =
      RandomCorpus(random, {.rows = 4000, .vocabulary = 9000, .length_min = 1, .length_max = 9});
  const BuiltIndex index = Build(corpus);
  const Outcome outcome = OutcomeOf(index, Containing(" " + WordOfRank(700) + " "));
  EXPECT_LE(outcome.rounds, 2);
  EXPECT_TRUE(outcome.docs.has_value());
}

TEST(PatternSearch, NoticesDamage) {
  Random random(TestSeed());
  const Corpus corpus =
      RandomCorpus(random, {.rows = 4000, .vocabulary = 9000, .length_min = 1, .length_max = 9});
  BuiltIndex index = Build(corpus);
  std::string bytes = index.blob->ToString();
  const ByteRange& dictionary = index.reader->sections().dictionary;
  bytes[static_cast<size_t>(dictionary.offset) +
        random.Below(static_cast<uint64_t>(dictionary.length))] ^= 4;
  index.blob = arrow::Buffer::FromString(std::move(bytes));
  const auto search = PatternSearch::Make(*index.reader, Containing("quux"), nullptr);
  Check(search->Resume());
  const ByteRange read = search->NextReads().at(0);
  EXPECT_THAT(search->Feed({arrow::SliceBuffer(index.blob, read.offset, read.length)}),
              IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino::text
