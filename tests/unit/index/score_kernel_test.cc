#include "infino/index/text/score_kernel.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/length_array.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

TEST(ScoreKernel, GivesTheBitsOfTheDefinition) {
  Random random(TestSeed());
  for (int round = 0; round < 300; ++round) {
    const Bm25 bm25{.k1 = random.Unit() * 3,
                    .b = round % 5 == 0 ? 0 : random.Unit(),
                    .average_length = 0.5 + random.Unit() * 400};
    const double idf = random.Unit() * 12;
    const size_t count = random.Below(130);
    std::vector<uint32_t> frequencies(count);
    std::vector<double> norms(count);
    std::vector<double> expected(count);
    std::vector<double> scores(count);
    for (size_t i = 0; i < count; ++i) {
      frequencies[i] = 1 + static_cast<uint32_t>(random.Below(uint64_t{1} << random.Below(30)));
      const auto length = static_cast<double>(random.Below(uint64_t{1} << random.Below(30)));
      norms[i] = bm25.Norm(length);
      expected[i] = bm25.Contribution(idf, frequencies[i], length);
    }
    Contribute(idf, frequencies, norms, scores);
    ASSERT_EQ(scores, expected);
  }
}

/// Lengths of one byte, of two and of four, and longer ones than the table of norms has.
TEST(LengthNorms, AreThoseOfTheDocumentsLengths) {
  Random random(TestSeed() + 1);
  for (const size_t longest : std::vector<size_t>{0, 3, 200, 3000, 70'000}) {
    Corpus corpus;
    for (int row = 0; row < 5000; ++row) corpus.emplace_back(row % 7 == 0 ? "" : "a b");
    std::string text;
    for (size_t i = 0; i < longest; ++i) text += "w ";
    corpus[random.Below(corpus.size())] = text;
    const BuiltIndex index = Build(corpus);
    const Oracle oracle(corpus);
    const ByteRange place = index.reader->sections().lengths;
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto lengths, DocLengths::Decode(*index.reader, {index.blob->data() + place.offset,
                                                               static_cast<size_t>(place.length)}));
    const Bm25 bm25{.average_length = 7};
    const LengthNorms norms(bm25, *lengths);
    std::vector<DocId> docs;
    for (DocId doc = 0; doc < corpus.size(); ++doc) docs.push_back(doc);
    std::vector<double> gathered(docs.size());
    norms.Gather(docs, gathered);
    for (const DocId doc : docs) {
      ASSERT_EQ((*lengths)[doc], oracle.LengthOf(doc));
      ASSERT_EQ(gathered[doc], bm25.Norm(oracle.LengthOf(doc)));
    }
  }
}

}  // namespace
}  // namespace infino::text
