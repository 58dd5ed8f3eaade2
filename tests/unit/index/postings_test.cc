#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/postings_writer.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

constexpr uint32_t kRows = 2'000'000;

/// An index of kRows empty rows, which is all a cursor wants to know.
const TextIndexReader& EmptyRows() {
  static const BuiltIndex kIndex = Build(Corpus(kRows, ""));
  return *kIndex.reader;
}

struct List {
  std::vector<DocId> docs;
  std::vector<uint32_t> frequencies;
  std::vector<uint32_t> lengths;
};

/// Postings whose gaps change from dense to sparse and back.
List RandomList(Random& random, size_t count) {
  List list;
  uint64_t doc = random.Below(100);
  uint64_t gap = 1;
  for (size_t i = 0; i < count; ++i) {
    if (random.Below(200) == 0) gap = uint64_t{1} << random.Below(6);
    list.docs.push_back(static_cast<DocId>(doc));
    doc += 1 + random.Below(gap);
    const uint64_t limit = random.Below(50) == 0 ? 1000 : 3;
    list.frequencies.push_back(static_cast<uint32_t>(1 + random.Below(limit)));
    list.lengths.push_back(list.frequencies.back() + static_cast<uint32_t>(random.Below(300)));
  }
  return list;
}

struct Encoded {
  TermEntry entry;
  std::vector<uint8_t> bytes;
};

Encoded Encode(const List& list) {
  Encoded encoded;
  PostingsWriter writer;
  writer.Begin(static_cast<uint32_t>(list.docs.size()));
  for (size_t at = 0; at < list.docs.size(); at += kBlockSize) {
    const size_t count = std::min<size_t>(kBlockSize, list.docs.size() - at);
    writer.Add({.docs = std::span(list.docs).subspan(at, count),
                .frequencies = std::span(list.frequencies).subspan(at, count),
                .lengths = std::span(list.lengths).subspan(at, count)});
  }
  writer.End();
  encoded.bytes.assign(writer.skip_data().begin(), writer.skip_data().end());
  encoded.bytes.insert(encoded.bytes.end(), writer.blocks().begin(), writer.blocks().end());
  encoded.entry.document_frequency = static_cast<uint32_t>(list.docs.size());
  encoded.entry.skip_length = writer.skip_data().size();
  encoded.entry.postings_length = encoded.bytes.size();
  encoded.entry.impacts.assign(writer.impacts().begin(), writer.impacts().end());
  return encoded;
}

std::shared_ptr<arrow::Buffer> BufferOf(std::span<const uint8_t> bytes) {
  return ToBuffer({bytes.begin(), bytes.end()});
}

arrow::Result<std::unique_ptr<PostingsCursor>> Open(const Encoded& encoded) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const TermPostings> postings,
                        TermPostings::Open(EmptyRows(), encoded.entry, BufferOf(encoded.bytes)));
  return std::make_unique<PostingsCursor>(EmptyRows(), std::move(postings));
}

TEST(PostingsCursor, ReadsWhatWasWritten) {
  Random random(TestSeed());
  for (const size_t count :
       std::vector<size_t>{2, 3, 127, 128, 129, 255, 256, 1000, 4095, 4096, 4097, 9000, 20'000}) {
    const List list = RandomList(random, count);
    const Encoded encoded = Encode(list);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto cursor, Open(encoded));
    List read;
    cursor->SeekBlock(0);
    while (!cursor->at_end()) {
      INFINO_ASSERT_OK_AND_ASSIGN(const auto docs, cursor->Docs());
      EXPECT_GE(docs.front(), cursor->block_begin());
      EXPECT_EQ(docs.back(), cursor->block_last());
      read.docs.insert(read.docs.end(), docs.begin(), docs.end());
      const auto frequencies = cursor->Frequencies();
      read.frequencies.insert(read.frequencies.end(), frequencies.begin(), frequencies.end());
      const auto lengths = cursor->Lengths();
      read.lengths.insert(read.lengths.end(), lengths.begin(), lengths.end());
      cursor->NextBlock();
    }
    EXPECT_EQ(read.docs, list.docs);
    EXPECT_EQ(read.frequencies, list.frequencies);
    EXPECT_EQ(read.lengths, count <= kBlockSize ? list.lengths : std::vector<uint32_t>());
  }
}

TEST(PostingsCursor, SeeksForwardAndBack) {
  Random random(TestSeed() + 1);
  const List list = RandomList(random, 30'000);
  const Encoded encoded = Encode(list);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto cursor, Open(encoded));
  for (int i = 0; i < 6000; ++i) {
    const auto doc = static_cast<DocId>(random.Below(list.docs.back() + 3));
    const auto expected = std::ranges::lower_bound(list.docs, doc);
    cursor->SeekBlock(doc);
    ASSERT_EQ(cursor->at_end(), expected == list.docs.end());
    if (cursor->at_end()) continue;
    INFINO_ASSERT_OK_AND_ASSIGN(const auto docs, cursor->Docs());
    ASSERT_EQ(*std::ranges::lower_bound(docs, doc), *expected);
    if (random.Below(3) == 0) cursor->NextBlock();
  }
}

TEST(PostingsCursor, SeekPastTheLastBlockEnds) {
  Random random(TestSeed() + 2);
  for (const size_t count : std::vector<size_t>{2, 200, 5000}) {
    const List list = RandomList(random, count);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto cursor, Open(Encode(list)));
    cursor->SeekBlock(list.docs.back() + 1);
    EXPECT_TRUE(cursor->at_end());
    cursor->SeekBlock(list.docs.back());
    EXPECT_FALSE(cursor->at_end());
  }
}

TEST(TermPostings, BoundsAreTheHighestContributionOfTheirBlock) {
  Random random(TestSeed() + 3);
  for (int round = 0; round < 30; ++round) {
    const List list = RandomList(random, 2 + random.Below(12'000));
    const TermScoring scoring{.bm25 = {.k1 = random.Unit() * 4,
                                       .b = random.Unit(),
                                       .average_length = 1 + random.Unit() * 300},
                              .idf = 0.1 + random.Unit()};
    INFINO_ASSERT_OK_AND_ASSIGN(const auto cursor, Open(Encode(list)));
    const std::shared_ptr<const BlockBounds> bounds = cursor->postings().BoundsUnder(scoring);
    EXPECT_EQ(cursor->postings().BoundsUnder(scoring), bounds);
    std::vector<double> contributions;
    for (size_t i = 0; i < list.docs.size(); ++i) {
      contributions.push_back(
          scoring.bm25.Contribution(scoring.idf, list.frequencies[i], list.lengths[i]));
    }
    double highest = 0;
    for (size_t at = 0, block = 0; at < list.docs.size(); at += kBlockSize, ++block) {
      const size_t end = std::min<size_t>(at + kBlockSize, list.docs.size());
      const double best = *std::max_element(contributions.begin() + static_cast<int64_t>(at),
                                            contributions.begin() + static_cast<int64_t>(end));
      ASSERT_GE(bounds->blocks[block] * kBoundSlack, best);
      ASSERT_LE(bounds->blocks[block], best * (1 + 1e-12));
      ASSERT_GE(bounds->super_blocks[block / kSuperBlockBlocks], bounds->blocks[block]);
      highest = std::max(highest, bounds->blocks[block]);
    }
    ASSERT_EQ(bounds->highest, highest);
    // At least k documents reach the k-th best bound.
    for (size_t k = 1; k <= bounds->best.size(); k += 1 + k / 4) {
      ASSERT_GE(std::ranges::count_if(contributions,
                                      [&](double each) { return each >= bounds->best[k - 1]; }),
                static_cast<int64_t>(k));
    }
  }
}

TEST(PostingsCursor, DenseListsAreBitmaps) {
  List list;
  Random random(TestSeed() + 4);
  for (DocId doc = 0; list.docs.size() < 4096; doc += 1 + static_cast<DocId>(random.Below(3))) {
    list.docs.push_back(doc);
    list.frequencies.push_back(1);
    list.lengths.push_back(7);
  }
  const double bits = static_cast<double>(Encode(list).bytes.size()) * 8 / 4096;
  EXPECT_LT(bits, 2.6);  // two per document, and what a block has around them
}

/// Whatever the bytes are, once their checksums are made right: no crash, and no document that the
/// index does not have.
void ExpectHarmless(const Encoded& encoded) {
  auto cursor = Open(encoded);
  if (!cursor.ok()) {
    EXPECT_THAT(cursor, IsError(ErrorKind::kCorrupt));
    return;
  }
  (*cursor)->SeekBlock(0);
  arrow::Status status;
  int64_t last = -1;
  while (status.ok() && !(*cursor)->at_end()) {
    const auto docs = (*cursor)->Docs();
    status = docs.status();
    if (!status.ok()) break;
    for (const DocId doc : *docs) {
      ASSERT_GT(int64_t{doc}, last);
      last = doc;
    }
    ASSERT_EQ((*cursor)->Frequencies().size(), docs->size());
    // What is looked up without unpacking is the same.
    PostingsCursor other(
        EmptyRows(),
        TermPostings::Open(EmptyRows(), encoded.entry, BufferOf(encoded.bytes)).ValueOrDie());
    other.GoToBlock((*cursor)->block());
    std::vector<uint8_t> ordinals(docs->size());
    ASSERT_THAT(other.Locate(*docs, ordinals), IsOk());
    std::vector<uint32_t> frequencies(docs->size());
    other.FrequenciesOf(ordinals, frequencies);
    for (size_t i = 0; i < docs->size(); ++i) {
      ASSERT_EQ(ordinals[i], i);
      ASSERT_EQ(frequencies[i], (*cursor)->Frequencies()[i]);
    }
    (*cursor)->NextBlock();
  }
  ASSERT_LT(last, kRows);
  if (!status.ok()) {
    EXPECT_THAT(status, IsError(ErrorKind::kCorrupt));
  }
}

/// Makes the checksums of a term's postings right where its skip data still can be read.
void Reseal(Encoded& encoded) {
  ByteWriter fixed;
  const std::span<const uint8_t> bytes(encoded.bytes);
  const auto seal = [&encoded](size_t begin, size_t end, size_t at) {
    const uint32_t checksum = Crc32c(std::span(encoded.bytes).subspan(begin, end - begin));
    for (size_t i = 0; i < 4; ++i) {
      encoded.bytes[at + i] = static_cast<uint8_t>(checksum >> (8 * i));
    }
  };
  const size_t skip = encoded.entry.skip_length;
  if (skip == 0) {
    seal(0, bytes.size() - 4, bytes.size() - 4);
    return;
  }
  BlockReader in(bytes.first(skip - 4));
  size_t offset = skip;
  Impacts impacts;
  while (in.ok() && in.remaining() > 0) {
    static_cast<void>(in.Varint(UINT64_MAX));
    const uint64_t length = in.Varint(bytes.size() - offset);
    ReadImpacts(in, impacts);
    const size_t at = in.offset();
    static_cast<void>(in.U32());
    if (in.ok()) seal(offset, offset + length, at);
    offset += length;
  }
  seal(0, skip - 4, skip - 4);
}

TEST(PostingsCursor, SurvivesBadBytesUnderRightChecksums) {
  Random random(TestSeed() + 5);
  for (const size_t count : std::vector<size_t>{5, 128, 129, 700, 4200}) {
    const Encoded good = Encode(RandomList(random, count));
    for (int i = 0; i < 1500; ++i) {
      Encoded bad = good;
      for (uint64_t edits = 1 + random.Below(3); edits > 0; --edits) {
        // Heads of blocks are where it hurts.
        const size_t limit =
            random.Below(2) == 0 ? bad.bytes.size() : std::min<size_t>(300, bad.bytes.size());
        bad.bytes[random.Below(limit)] = static_cast<uint8_t>(random.Next());
      }
      Reseal(bad);
      ExpectHarmless(bad);
    }
  }
}

TEST(PositionsReader, ReadsTheWordsPlaces) {
  Random random(TestSeed() + 6);
  Corpus corpus = RandomCorpus(random, {.rows = 6000, .vocabulary = 400, .length_max = 60});
  std::string long_text;
  for (int i = 0; i < 3000; ++i) {
    long_text += WordOfRank(DrawRank(random, 20, 1)) + ' ';
  }
  long_text.pop_back();
  corpus[77] = long_text;
  corpus.emplace_back("onlyhere " + long_text + " onlyhere onlyhere");
  std::string repeated;
  for (int i = 0; i < 40; ++i) repeated += "manytimes x ";
  corpus.emplace_back(repeated);
  TextIndexOptions options;
  options.positions = true;
  const BuiltIndex index = Build(corpus, options);
  const Oracle oracle(corpus);
  ASSERT_TRUE(index.reader->has_positions());

  for (const auto& [term, expected] : oracle.postings()) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto place, index.reader->FindDictionaryBlock(term));
    ASSERT_TRUE(place.has_value());
    const ByteSpan dictionary(index.blob->data() + place->offset,
                              static_cast<size_t>(place->length));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto block, DictionaryBlock::Open(*index.reader, dictionary));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto entry, block.Find(term));
    ASSERT_TRUE(entry.has_value());
    const int64_t start =
        index.reader->sections().postings.offset + static_cast<int64_t>(entry->offset);
    const auto postings =
        arrow::SliceBuffer(index.blob, start, static_cast<int64_t>(entry->postings_length));
    const auto bytes =
        entry->positions_length == 0
            ? nullptr
            : arrow::SliceBuffer(index.blob, start + static_cast<int64_t>(entry->postings_length),
                                 static_cast<int64_t>(entry->positions_length));
    INFINO_ASSERT_OK_AND_ASSIGN(auto reader, PositionsReader::Make(*index.reader, *entry, bytes));
    INFINO_ASSERT_OK_AND_ASSIGN(const auto opened,
                                TermPostings::Open(*index.reader, *entry, postings));
    PostingsCursor walked(*index.reader, opened);
    PostingsCursor* const cursor = &walked;
    size_t ordinal = 0;
    cursor->SeekBlock(0);
    for (; !cursor->at_end(); ++ordinal) {
      INFINO_ASSERT_OK_AND_ASSIGN(const auto docs, cursor->Docs());
      std::vector<uint32_t> read;
      INFINO_ASSERT_OK(reader.Read(ordinal, cursor->Frequencies(), read));
      std::vector<uint32_t> wanted;
      for (const DocId doc : docs) {
        const std::vector<std::string> words = WordsOf(*corpus[doc]);
        for (uint32_t i = 0; i < words.size(); ++i) {
          if (words[i] == term) wanted.push_back(i);
        }
      }
      ASSERT_EQ(read, wanted) << term;
      cursor->NextBlock();
    }
  }
}

}  // namespace
}  // namespace infino::text
