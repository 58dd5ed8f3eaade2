#include "infino/index/text/verify_text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/buffer_range_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

arrow::Status Verify(const TextIndexReader& index, std::shared_ptr<arrow::Buffer> blob) {
  return VerifyTextIndex(index, BufferRangeReader(std::move(blob), "blob"), SuperfileId{});
}

TEST(VerifyTextIndex, FindsNoFaultWithIndexesOfAnyShape) {
  Random random(TestSeed());
  for (const uint32_t rows : {0U, 1U, 2U, 127U, 128U, 129U, 700U, 4096U, 4097U, 9000U}) {
    for (const bool positions : {false, true}) {
      const CorpusShape shape{.rows = rows,
                              .vocabulary = static_cast<uint32_t>(1 + random.Below(400)),
                              .length_min = static_cast<uint32_t>(random.Below(3)),
                              .length_max = static_cast<uint32_t>(3 + random.Below(60)),
                              .null_share = random.Unit() / 3,
                              .skew = static_cast<double>(random.Below(2))};
      TextIndexOptions options;
      options.positions = positions;
      if (random.Below(3) == 0) options.stopwords = "english";
      Corpus corpus = RandomCorpus(random, shape);
      if (random.Below(2) == 0) corpus.emplace_back("and the " + std::string(500, 'x') + " of it");
      const BuiltIndex index = Build(corpus, options);
      INFINO_EXPECT_OK(Verify(*index.reader, index.blob));
    }
  }
}

TEST(VerifyTextIndex, AcceptsImpactsThatWereJoined) {
  // More corners than are kept: of the frequency f in a document of f * f tokens, or so.
  Corpus corpus;
  for (uint32_t frequency = 1; frequency <= 60; ++frequency) {
    std::string text;
    for (uint32_t i = 0; i < frequency; ++i) text += "a ";
    for (uint32_t i = 0; i < frequency * frequency; ++i) text += "b ";
    corpus.emplace_back(text);
  }
  for (const int copies : {1, 5}) {
    Corpus rows;
    for (int i = 0; i < copies; ++i) rows.insert(rows.end(), corpus.begin(), corpus.end());
    const BuiltIndex index = Build(rows);
    INFINO_EXPECT_OK(Verify(*index.reader, index.blob));
  }
}

TEST(VerifyTextIndex, NoticesTheBlobOfAnotherSuperfile) {
  const BuiltIndex index = Build({"a b"});
  SuperfileId other;
  other.bytes.fill(1);
  const arrow::Status status =
      VerifyTextIndex(*index.reader, BufferRangeReader(index.blob, "blob"), other);
  EXPECT_THAT(status, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(status.message(), testing::HasSubstr("another superfile"));
}

/// A checksum: which bytes of the blob it covers, and where it stands.
struct Checksum {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t at = 0;
  bool is_in_open_part = false;
};

/// An index as bytes that can be changed and sealed again.
class Sealed {
 public:
  explicit Sealed(const BuiltIndex& index)
      : open_part_(BytesOf(*index.finished.open_part)),
        blob_(BytesOf(*index.blob)),
        index_(*index.reader) {
    AddLengths();
    ForEachTerm(index_, blob_, [this](std::string_view, const TermEntry& entry) {
      AddPostings(entry);
      if (index_.has_positions()) AddPositions(entry);
    });
  }

  /// Calls `visit` with all terms; `places` gets the dictionary's blocks, as ranges of the blob.
  template <typename Visit>
  static void ForEachTerm(const TextIndexReader& index, const Bytes& blob, const Visit& visit,
                          std::vector<ByteRange>* places = nullptr) {
    const auto take = [&](ByteSpan bytes) {
      const auto block = DictionaryBlock::Open(index, bytes);
      Check(block.status());
      Check(block->ForEach([&](std::string_view term, const TermEntry& entry) {
        visit(term, entry);
        return true;
      }));
    };
    if (index.inline_dictionary().has_value()) {
      if (!index.inline_dictionary()->empty()) take(*index.inline_dictionary());
      return;
    }
    FstReader::Cursor cursor = index.dictionary_blocks()->MakeCursor();
    Check(cursor.Seek({}));
    while (cursor.valid()) {
      const uint64_t offset = static_cast<uint64_t>(index.sections().dictionary.offset) +
                              (cursor.value() >> kBlockLengthBits);
      const uint64_t length = cursor.value() & kDictionaryBlockMax;
      if (places != nullptr) {
        places->push_back({static_cast<int64_t>(offset), static_cast<int64_t>(length)});
      }
      take(ByteSpan(blob).subspan(offset, length));
      Check(cursor.Next());
    }
  }

  [[nodiscard]] const Bytes& blob() const { return blob_; }

  [[nodiscard]] const Bytes& open_part() const { return open_part_; }

  /// Makes the checksums right again.
  void Seal(Bytes& blob, Bytes& open_part) const {
    for (const Checksum& seal : seals_) {
      const uint32_t sum = Crc32c(ByteSpan(blob).subspan(seal.begin, seal.end - seal.begin));
      Store(sum, seal.is_in_open_part ? open_part : blob, seal.at);
    }
    const size_t size = open_part.size() - kChecksumSize;
    Store(Crc32c(ByteSpan(open_part).first(size)), open_part, size);
  }

  /// Verifies the index with these bytes, sealed.
  [[nodiscard]] arrow::Status Judge(Bytes blob, Bytes open_part) const {
    Seal(blob, open_part);
    const auto length = static_cast<int64_t>(blob.size());
    auto index = TextIndexReader::Open(ToBuffer(std::move(open_part)), length, "damaged");
    ARROW_RETURN_NOT_OK(index.status());
    return Verify(**index, ToBuffer(std::move(blob)));
  }

  void AddDictionaryBlocks() {
    std::vector<ByteRange> places;
    ForEachTerm(index_, blob_, [](std::string_view, const TermEntry&) {}, &places);
    for (const ByteRange& place : places) Add(place.offset, place.length - 4, place.end() - 4);
  }

  [[nodiscard]] bool IsChecksum(uint64_t at, bool is_in_open_part) const {
    return std::ranges::any_of(seals_, [&](const Checksum& seal) {
      return seal.is_in_open_part == is_in_open_part && seal.at <= at && at < seal.at + 4;
    });
  }

 private:
  static void Store(uint32_t value, Bytes& bytes, uint64_t at) {
    for (uint32_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
  }

  template <typename Number>
  void Add(Number begin, Number length, Number at) {
    seals_.push_back({.begin = static_cast<uint64_t>(begin),
                      .end = static_cast<uint64_t>(begin + length),
                      .at = static_cast<uint64_t>(at)});
  }

  void AddLengths() {
    const auto section = static_cast<uint64_t>(index_.sections().lengths.offset);
    const auto& chunks = index_.length_chunks();
    for (size_t i = 0; i < chunks.size(); ++i) {
      const uint64_t end = i + 1 < chunks.size()
                               ? chunks[i + 1].offset
                               : static_cast<uint64_t>(index_.sections().lengths.length);
      ByteWriter stored;
      stored.WriteU8(chunks[i].width);
      stored.WriteU32(chunks[i].checksum);
      const auto found = std::ranges::search(open_part_, stored.bytes());
      seals_.push_back({.begin = section + chunks[i].offset,
                        .end = section + end,
                        .at = static_cast<uint64_t>(found.begin() - open_part_.begin()) + 1,
                        .is_in_open_part = true});
    }
  }

  void AddPostings(const TermEntry& entry) {
    const uint64_t begin = kBlobHeadSize + entry.offset;
    const uint64_t end = begin + entry.postings_length;
    if (entry.document_frequency == 1) return;
    if (entry.document_frequency <= kBlockSize) {
      Add(begin, end - 4 - begin, end - 4);
      return;
    }
    const uint64_t skip_end = begin + entry.skip_length;
    BlockReader in(ByteSpan(blob_).subspan(begin, entry.skip_length - 4));
    uint64_t at = skip_end;
    while (in.remaining() > 0) {
      static_cast<void>(in.Varint(UINT64_MAX));
      const uint64_t length = in.Varint(UINT64_MAX);
      Impacts impacts;
      ReadImpacts(in, impacts);
      Add(at, length, begin + in.offset());
      static_cast<void>(in.U32());
      at += length;
    }
    Add(begin, entry.skip_length - 4, skip_end - 4);
  }

  void AddPositions(const TermEntry& entry) {
    const uint64_t begin = kBlobHeadSize + entry.offset + entry.postings_length;
    const uint64_t end = begin + entry.positions_length;
    if (entry.positions_length == 0) return;
    if (entry.document_frequency <= kBlockSize) {
      Add(begin, end - 4 - begin, end - 4);
      return;
    }
    constexpr uint32_t kDocs = kBlockSize * kSuperBlockBlocks;
    const uint32_t count = (entry.document_frequency + kDocs - 1) / kDocs;
    BlockReader in(ByteSpan(blob_).subspan(begin, entry.positions_length));
    std::vector<std::pair<uint64_t, uint64_t>> runs;  // length, and where the checksum stands
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t length = in.Varint(UINT64_MAX);
      runs.emplace_back(length, begin + in.offset());
      static_cast<void>(in.U32());
    }
    uint64_t at = begin + in.offset() + 4;
    for (const auto& [length, checksum] : runs) {
      Add(at, length, checksum);
      at += length;
    }
    Add(begin, in.offset(), begin + in.offset());
  }

  Bytes open_part_;
  Bytes blob_;
  const TextIndexReader& index_;
  std::vector<Checksum> seals_;
};

/// Few rows and many, so that postings have no block, one, and several super-blocks.
class SealedDamage : public ::testing::TestWithParam<uint32_t> {
 protected:
  SealedDamage() : random_(TestSeed() + GetParam()) {
    TextIndexOptions options;
    options.positions = true;
    index_ = Build(RandomCorpus(random_, {.rows = GetParam(),
                                          .vocabulary = 800,
                                          .length_min = 1,
                                          .length_max = 12,
                                          .skew = 1.5}),
                   options);
    sealed_ = std::make_unique<Sealed>(index_);
  }

  /// Bytes of a section to damage: all of a small one.
  std::vector<uint64_t> Places(const ByteRange& section, uint64_t at_most) {
    std::vector<uint64_t> places;
    const auto length = static_cast<uint64_t>(section.length);
    for (uint64_t i = 0; i < std::min(length, at_most); ++i) {
      const uint64_t at = length <= at_most ? i : random_.Below(length);
      places.push_back(static_cast<uint64_t>(section.offset) + at);
    }
    return places;
  }

  Bytes Flipped(const Bytes& bytes, uint64_t at) {
    Bytes bad = bytes;
    bad[at] ^= static_cast<uint8_t>(random_.Below(2) == 0 ? 1U << random_.Below(8)
                                                          : 1 + random_.Below(255));
    return bad;
  }

  Random random_;
  BuiltIndex index_;
  std::unique_ptr<Sealed> sealed_;
};

TEST_P(SealedDamage, LeavesAnUndamagedIndexAsItWas) {
  INFINO_EXPECT_OK(sealed_->Judge(sealed_->blob(), sealed_->open_part()));
}

TEST_P(SealedDamage, OfAnyByteOfPostingsAndPositionsIsNoticed) {
  for (const uint64_t at : Places(index_.reader->sections().postings, 1500)) {
    if (sealed_->IsChecksum(at, false)) continue;
    const arrow::Status status = sealed_->Judge(Flipped(sealed_->blob(), at), sealed_->open_part());
    ASSERT_THAT(status, IsError(ErrorKind::kCorrupt)) << "byte " << at;
    ASSERT_THAT(status.message(), testing::StartsWith("damaged: "));
  }
}

TEST_P(SealedDamage, OfAnyByteOfLengthsIsNoticed) {
  for (const uint64_t at : Places(index_.reader->sections().lengths, 300)) {
    ASSERT_THAT(sealed_->Judge(Flipped(sealed_->blob(), at), sealed_->open_part()),
                IsError(ErrorKind::kCorrupt))
        << "byte " << at;
  }
}

TEST_P(SealedDamage, OfTheDictionaryIsNoticedUnlessATermIsSpelledOtherwise) {
  sealed_->AddDictionaryBlocks();
  std::vector<std::string> right;
  const auto collect = [](std::vector<std::string>& terms) {
    return [&terms](std::string_view term, const TermEntry&) { terms.emplace_back(term); };
  };
  Sealed::ForEachTerm(*index_.reader, sealed_->blob(), collect(right));
  int noticed = 0;
  const auto& section = index_.reader->sections().dictionary;
  for (const uint64_t at : Places(section, 600)) {
    if (sealed_->IsChecksum(at, false)) continue;
    Bytes bad = Flipped(sealed_->blob(), at);
    const arrow::Status status = sealed_->Judge(bad, sealed_->open_part());
    if (!status.ok()) {
      ++noticed;
      ASSERT_THAT(status, IsError(ErrorKind::kCorrupt)) << "byte " << at;
      continue;
    }
    Bytes open_part = sealed_->open_part();
    sealed_->Seal(bad, open_part);
    std::vector<std::string> wrong;
    Sealed::ForEachTerm(*index_.reader, bad, collect(wrong));
    EXPECT_NE(wrong, right) << "byte " << at;
  }
  if (section.length > 0) {
    EXPECT_GT(noticed, 0);
  }
}

TEST_P(SealedDamage, OfTheOpenPartsTotalsAndTransducerIsNoticed) {
  const Bytes& whole = sealed_->open_part();
  // From the count of rows with a token to the greatest term.
  BlockReader in(ByteSpan(whole).subspan(8));
  static_cast<void>(in.Varint(UINT64_MAX));
  const uint64_t first = 8 + in.offset();
  for (int i = 0; i < 3; ++i) static_cast<void>(in.Varint(UINT64_MAX));
  for (int i = 0; i < 2; ++i) static_cast<void>(in.Bytes(in.Varint(UINT64_MAX)));
  const uint64_t end = 8 + in.offset();
  std::vector<uint64_t> places;
  for (uint64_t at = first; at < end; ++at) places.push_back(at);
  if (!index_.reader->inline_dictionary().has_value()) {
    // The transducer is the last before the checksum; its size is in its head, at 20.
    const std::vector<uint8_t> magic = {'I', 'F', 'S', 'T'};
    const auto found = std::ranges::search(whole, magic);
    const auto begin = static_cast<uint64_t>(found.begin() - whole.begin());
    for (uint64_t at = begin; at < whole.size() - 4; ++at) places.push_back(at);
  }
  for (const uint64_t at : places) {
    const Bytes bad = Flipped(whole, at);
    // A state that leads nowhere has a size for where it leads, too.
    constexpr int kDeltaSize = 3 << 3;
    if (whole[at] == 1 && ((whole[at] ^ bad[at]) & ~kDeltaSize) == 0) continue;
    const arrow::Status status = sealed_->Judge(sealed_->blob(), bad);
    ASSERT_TRUE(IsError(status, ErrorKind::kCorrupt) ||
                IsError(status, ErrorKind::kUnsupportedVersion))
        << status.ToString() << ", byte " << at << ": " << int{whole[at]} << " to " << int{bad[at]};
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, SealedDamage, ::testing::Values(5, 200, 3000, 13'000));

}  // namespace
}  // namespace infino::text
