#include "infino/index/text/term_dictionary.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

/// The entry of a term, found as a search finds it: one block, or the inline one.
arrow::Result<std::optional<TermEntry>> Find(const BuiltIndex& index, std::string_view term) {
  if (index.reader->summary().term_count == 0) return std::nullopt;
  ByteSpan bytes;
  if (index.reader->inline_dictionary().has_value()) {
    bytes = *index.reader->inline_dictionary();
  } else {
    ARROW_ASSIGN_OR_RAISE(const std::optional<ByteRange> place,
                          index.reader->FindDictionaryBlock(term));
    if (!place.has_value()) return std::nullopt;
    bytes = {index.blob->data() + place->offset, static_cast<size_t>(place->length)};
  }
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock block, DictionaryBlock::Open(*index.reader, bytes));
  return block.Find(term);
}

std::string RandomWord(Random& random) {
  std::string word;
  const uint64_t length = random.Below(50) == 0 ? 1 + random.Below(254) : 1 + random.Below(7);
  for (uint64_t i = 0; i < length; ++i) word += static_cast<char>('a' + random.Below(4));
  return word;
}

Corpus CorpusOfRandomWords(Random& random, size_t rows) {
  Corpus corpus;
  for (size_t row = 0; row < rows; ++row) {
    std::string text;
    for (uint64_t i = random.Below(12); i > 0; --i) text += RandomWord(random) + ' ';
    corpus.emplace_back(text);
  }
  return corpus;
}

/// One whose dictionary is small enough to be inline, however the words fall.
Corpus SmallCorpus(Random& random) {
  return RandomCorpus(random, {.rows = 60, .vocabulary = 150, .length_min = 2, .length_max = 12});
}

TEST(TermDictionary, HoldsWhatAMapHolds) {
  Random random(TestSeed());
  for (const size_t rows : std::vector<size_t>{1, 10, 100, 3000}) {
    const Corpus corpus = CorpusOfRandomWords(random, rows);
    const BuiltIndex index = Build(corpus);
    const Oracle oracle(corpus);
    std::vector<std::string> terms;
    for (const auto& [term, postings] : oracle.postings()) {
      terms.push_back(term);
      INFINO_ASSERT_OK_AND_ASSIGN(const auto entry, Find(index, term));
      ASSERT_TRUE(entry.has_value()) << term;
      EXPECT_EQ(entry->document_frequency, postings.size());
      uint64_t total = 0;
      for (const auto& [doc, frequency] : postings) total += frequency;
      EXPECT_EQ(entry->total_frequency, total);
      if (postings.size() == 1) {
        EXPECT_EQ(entry->single_doc, postings.begin()->first);
        const Impact only{.frequency = postings.begin()->second,
                          .length = oracle.LengthOf(postings.begin()->first)};
        EXPECT_EQ(entry->impacts, Impacts{only});
      }
    }
    EXPECT_EQ(index.visited, terms);
    for (int i = 0; i < 3000; ++i) {
      const std::string word = RandomWord(random);
      INFINO_ASSERT_OK_AND_ASSIGN(const auto entry, Find(index, word));
      EXPECT_EQ(entry.has_value(), oracle.postings().contains(word)) << word;
    }
  }
}

TEST(TermDictionary, WalksAllTermsInOrder) {
  Random random(TestSeed() + 1);
  const BuiltIndex index = Build(SmallCorpus(random));
  ASSERT_TRUE(index.reader->inline_dictionary().has_value());
  INFINO_ASSERT_OK_AND_ASSIGN(
      const auto block, DictionaryBlock::Open(*index.reader, *index.reader->inline_dictionary()));
  std::vector<std::string> terms;
  uint64_t end = 0;
  INFINO_ASSERT_OK(block.ForEach([&](std::string_view term, const TermEntry& entry) {
    EXPECT_EQ(entry.offset, end);  // postings follow each other
    end = entry.offset + entry.postings_length + entry.positions_length;
    terms.emplace_back(term);
    return true;
  }));
  EXPECT_EQ(terms, index.visited);
  EXPECT_EQ(end, static_cast<uint64_t>(index.reader->sections().postings.length));
}

TEST(TermDictionary, SurvivesBadBytesUnderARightChecksum) {
  Random random(TestSeed() + 2);
  const BuiltIndex index = Build(SmallCorpus(random));
  const ByteSpan good = *index.reader->inline_dictionary();
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> bad(good.begin(), good.end());
    for (uint64_t edits = 1 + random.Below(3); edits > 0; --edits) {
      bad[random.Below(bad.size() - 4)] = static_cast<uint8_t>(random.Next());
    }
    const uint32_t checksum = Crc32c(ByteSpan(bad).first(bad.size() - 4));
    for (size_t byte = 0; byte < 4; ++byte) {
      bad[bad.size() - 4 + byte] = static_cast<uint8_t>(checksum >> (8 * byte));
    }
    const auto block = DictionaryBlock::Open(*index.reader, bad);
    if (!block.ok()) continue;
    const auto section = static_cast<uint64_t>(index.reader->sections().postings.length);
    const arrow::Status walked = block->ForEach([&](std::string_view term, const TermEntry& entry) {
      EXPECT_LE(term.size(), kTermLengthMax);
      EXPECT_LE(entry.offset + entry.postings_length + entry.positions_length, section);
      EXPECT_LT(entry.single_doc, 60);
      return true;
    });
    if (!walked.ok()) {
      EXPECT_THAT(walked, IsError(ErrorKind::kCorrupt));
    }
    const auto found = block->Find(index.visited[random.Below(index.visited.size())]);
    if (!found.ok()) {
      EXPECT_THAT(found, IsError(ErrorKind::kCorrupt));
    }
  }
}

}  // namespace
}  // namespace infino::text
