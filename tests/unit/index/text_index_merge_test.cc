#include "infino/index/text/text_index_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// An index with where its documents go.
struct Part {
  Corpus corpus;
  std::vector<DocId> new_docs;
};

/// Indexes to merge, and the rows of the one that comes out.
struct Split {
  std::vector<Part> parts;
  Corpus merged;
};

enum class Order : uint8_t { kInterleaved, kOneAfterTheOther };

/// Deals the rows of `corpus` out to `count` parts, of which some stay empty, and deletes some.
Split Deal(Random& random, const Corpus& corpus, size_t count, Order order, double gone_share) {
  Split split;
  split.parts.resize(count);
  for (size_t row = 0; row < corpus.size(); ++row) {
    // The second of many parts stays empty.
    size_t at = order == Order::kInterleaved ? random.Below(count) : row * count / corpus.size();
    if (count > 2 && at == 1) at = 2;
    Part& part = split.parts[at];
    part.corpus.push_back(corpus[row]);
    if (random.Unit() < gone_share) {
      part.new_docs.push_back(kGoneDoc);
      continue;
    }
    part.new_docs.push_back(static_cast<DocId>(split.merged.size()));
    split.merged.push_back(corpus[row]);
  }
  return split;
}

BlobRead ReadsOf(std::shared_ptr<arrow::Buffer> blob) {
  return
      [blob = std::move(blob)](ByteRange range) -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
        if (range.offset < 0 || range.length < 0 || range.end() > blob->size()) {
          return arrow::Status::Invalid("range past the blob");
        }
        // A copy of just these bytes, so that a sanitizer sees reads past them.
        auto copy = arrow::AllocateBuffer(range.length).ValueOrDie();
        std::copy_n(blob->data() + range.offset, range.length, copy->mutable_data());
        return std::shared_ptr<arrow::Buffer>(std::move(copy));
      };
}

/// The merge of `indexes`; the result has no reader.
arrow::Result<BuiltIndex> Merge(const std::vector<BuiltIndex>& indexes, const Split& split,
                                TextIndexMergeOptions options = {}) {
  std::vector<TextIndexInput> inputs;
  for (size_t i = 0; i < indexes.size(); ++i) {
    inputs.push_back({.index = indexes[i].reader,
                      .read = ReadsOf(indexes[i].blob),
                      .new_docs = split.parts[i].new_docs});
  }
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  BuiltIndex merged;
  const auto visit = [&merged](std::string_view term) { merged.visited.emplace_back(term); };
  ARROW_ASSIGN_OR_RAISE(merged.finished, MergeTextIndexes(inputs, *sink, options, visit));
  ARROW_ASSIGN_OR_RAISE(merged.blob, sink->Finish());
  return merged;
}

std::vector<BuiltIndex> BuildParts(const Split& split, const TextIndexOptions& options) {
  std::vector<BuiltIndex> indexes;
  for (const Part& part : split.parts) indexes.push_back(Build(part.corpus, options));
  return indexes;
}

void ExpectSame(const BuiltIndex& merged, const BuiltIndex& built) {
  EXPECT_EQ(merged.finished.summary, built.finished.summary);
  EXPECT_EQ(merged.finished.blob_length, built.finished.blob_length);
  EXPECT_TRUE(merged.blob->Equals(*built.blob));
  EXPECT_TRUE(merged.finished.open_part->Equals(*built.finished.open_part));
  EXPECT_EQ(merged.visited, built.visited);
}

void ExpectMergesTo(const Split& split, const TextIndexOptions& options, int64_t read_bytes) {
  INFINO_ASSERT_OK_AND_ASSIGN(
      const BuiltIndex merged,
      Merge(BuildParts(split, options), split, {.superfile = {}, .read_bytes = read_bytes}));
  ExpectSame(merged, Build(split.merged, options));
}

class TextIndexMerge : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] TextIndexOptions options() const { return {.positions = GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(Positions, TextIndexMerge, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "with" : "without"; });

TEST_P(TextIndexMerge, IsWhatTheBuilderMakesOfTheSurvivingRows) {
  Random random(TestSeed());
  for (const size_t count : {size_t{1}, size_t{2}, size_t{7}}) {
    for (const Order order : {Order::kInterleaved, Order::kOneAfterTheOther}) {
      for (const double gone_share : {0.0, 0.02, 0.5, 0.995}) {
        const CorpusShape shape{.rows = static_cast<uint32_t>(1 + random.Below(3000)),
                                .vocabulary = static_cast<uint32_t>(1 + random.Below(4000)),
                                .length_max = static_cast<uint32_t>(1 + random.Below(30)),
                                .null_share = 0.1,
                                .skew = random.Unit()};
        SCOPED_TRACE("inputs=" + std::to_string(count) + " rows=" + std::to_string(shape.rows) +
                     " gone=" + std::to_string(gone_share));
        const Split split = Deal(random, RandomCorpus(random, shape), count, order, gone_share);
        ExpectMergesTo(split, options(), int64_t{1} << random.Below(21));
      }
    }
  }
}

/// Words for all kinds of postings: one document, one block with and without a neighbour that is
/// just too long for it, several blocks, several super-blocks as gaps and as bitmaps.
TEST_P(TextIndexMerge, TakesListsOfAllLengths) {
  Random random(TestSeed() + 1);
  constexpr uint32_t kRows = 14'000;
  Corpus corpus;
  for (uint32_t row = 0; row < kRows; ++row) {
    std::string text = "all once" + std::to_string(row);
    const auto add = [&](bool is_in, const char* word) {
      if (is_in) text += std::string(" ") + word;
    };
    add(row % 2 == 0, "half half half");
    add(row % 9 == 3, "ninth all");
    add(row % (kRows / 2) == 5, "twice");
    add(row % (kRows / 128) == 0, "block");  // 129 of them
    add(row > 500 && row <= 628, "dense128");
    add(row > 600 && row <= 729, "dense129");
    add(random.Below(30) == 0, "some");
    if (row == 77) {
      for (int i = 0; i < 3000; ++i) text += " often";
    }
    corpus.emplace_back(std::move(text));
  }
  for (const size_t count : {size_t{1}, size_t{2}, size_t{7}}) {
    for (const Order order : {Order::kInterleaved, Order::kOneAfterTheOther}) {
      SCOPED_TRACE("inputs=" + std::to_string(count));
      const double gone_share = count == 2 ? 0 : 0.1;
      ExpectMergesTo(Deal(random, corpus, count, order, gone_share), options(), 50'000);
    }
  }
}

TEST_P(TextIndexMerge, OfNothingIsAnEmptyIndex) {
  Random random(TestSeed() + 2);
  const Corpus corpus = RandomCorpus(random, {.rows = 300});
  ExpectMergesTo(Deal(random, corpus, 3, Order::kInterleaved, 1.1), options(), 4096);
  ExpectMergesTo(Split{.parts = {Part{}, Part{}}, .merged = {}}, options(), 4096);
  const Corpus nulls(5);
  ExpectMergesTo(Deal(random, nulls, 2, Order::kInterleaved, 0.3), options(), 4096);
}

TEST_P(TextIndexMerge, OfMergesIsTheMerge) {
  Random random(TestSeed() + 3);
  const Corpus corpus = RandomCorpus(random, {.rows = 2000, .vocabulary = 2000});
  Split split = Deal(random, corpus, 4, Order::kInterleaved, 0);
  const std::vector<BuiltIndex> parts = BuildParts(split, options());
  INFINO_ASSERT_OK_AND_ASSIGN(BuiltIndex merged, Merge(parts, split));
  INFINO_ASSERT_OK_AND_ASSIGN(merged.reader, TextIndexReader::Open(merged.finished.open_part,
                                                                   merged.blob->size(), "merged"));
  const Split again = Deal(random, corpus, 1, Order::kInterleaved, 0.2);
  std::vector<BuiltIndex> inputs;
  inputs.push_back(std::move(merged));
  INFINO_ASSERT_OK_AND_ASSIGN(const BuiltIndex twice, Merge(inputs, again));
  ExpectSame(twice, Build(again.merged, options()));
}

TEST_P(TextIndexMerge, EndsWhenItsHookSaysSo) {
  Random random(TestSeed() + 4);
  const Split split = Deal(random, RandomCorpus(random, {.rows = 3000, .vocabulary = 5000}), 2,
                           Order::kInterleaved, 0.1);
  const std::vector<BuiltIndex> parts = BuildParts(split, options());
  std::vector<int64_t> seen;
  int64_t total = 0;
  TextIndexMergeOptions merge;
  merge.hook = [&](int64_t done, int64_t all) {
    seen.push_back(done);
    total = all;
    return arrow::Status::OK();
  };
  INFINO_ASSERT_OK(Merge(parts, split, merge).status());
  EXPECT_GT(seen.size(), 5U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_LE(seen.back(), total);
  EXPECT_GT(seen.back(), total / 2);

  int calls = 0;
  merge.hook = [&calls](int64_t /*done*/, int64_t /*total*/) {
    return ++calls < 3 ? arrow::Status::OK() : MakeError(ErrorKind::kCancelled, "enough");
  };
  EXPECT_THAT(Merge(parts, split, merge), IsError(ErrorKind::kCancelled));
  EXPECT_EQ(calls, 3);
}

TEST(TextIndexMergeRefuses, IndexesOfDifferentTerms) {
  const Corpus corpus = {"red fox", std::nullopt, "fox"};
  const BuiltIndex plain = Build(corpus);
  for (const TextIndexOptions& other :
       {TextIndexOptions{.positions = true}, TextIndexOptions{.stemmer = "english"},
        TextIndexOptions{.stopwords = "english"}, TextIndexOptions{.analyzer = "simple"}}) {
    const auto built = [&other, &corpus]() -> std::optional<BuiltIndex> {
      if (!TextIndexBuilder::Make(other, SuperfileId{}).ok()) return std::nullopt;
      return Build(corpus, other);
    }();
    if (!built.has_value()) continue;
    const std::vector<DocId> first = {0, 1, 2};
    const std::vector<DocId> second = {3, 4, 5};
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto renamed,
        TextIndexReader::Open(built->finished.open_part, built->blob->size(), "the other index"));
    const std::vector<TextIndexInput> inputs = {
        {.index = plain.reader, .read = ReadsOf(plain.blob), .new_docs = first},
        {.index = renamed, .read = ReadsOf(built->blob), .new_docs = second}};
    const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    const auto merged = MergeTextIndexes(inputs, *sink, {}, {});
    ASSERT_THAT(merged, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(merged.status().message(),
                AllOf(HasSubstr("test index"), HasSubstr("the other index")));
  }
}

TEST(TextIndexMergeRefuses, MapsThatDoNotNumberTheDocuments) {
  const Corpus corpus = {"red fox", std::nullopt, "fox"};
  std::vector<BuiltIndex> parts;
  for (int i = 0; i < 2; ++i) parts.push_back(Build(corpus));
  const auto merge = [&](std::vector<DocId> first, std::vector<DocId> second) {
    Split split;
    split.parts = {{.corpus = {}, .new_docs = std::move(first)},
                   {.corpus = {}, .new_docs = std::move(second)}};
    return Merge(parts, split);
  };
  INFINO_EXPECT_OK(merge({0, 2, 4}, {1, 3, 5}).status());
  INFINO_EXPECT_OK(merge({0, kGoneDoc, 3}, {kGoneDoc, 1, 2}).status());
  EXPECT_THAT(merge({0, 2, 4}, {1, 3}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(merge({0, 2, 4}, {1, 3, 6}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(merge({0, 2, 4}, {1, 4, 5}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(merge({0, 4, 2}, {1, 3, 5}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(merge({0, 0, 1}, {2, 3, 4}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Merge({}, {}), IsError(ErrorKind::kInvalidArgument));
}

std::shared_ptr<arrow::Buffer> Flip(const arrow::Buffer& bytes, size_t at, uint8_t by) {
  std::vector<uint8_t> copy(bytes.data(), bytes.data() + bytes.size());
  copy[at] = static_cast<uint8_t>(copy[at] ^ by);
  return ToBuffer(std::move(copy));
}

TEST_P(TextIndexMerge, NamesTheInputThatIsDamaged) {
  Random random(TestSeed() + 5);
  const Split split = Deal(random, RandomCorpus(random, {.rows = 3000, .vocabulary = 800}), 2,
                           Order::kInterleaved, 0.1);
  std::vector<BuiltIndex> parts = BuildParts(split, options());
  INFINO_ASSERT_OK_AND_ASSIGN(const BuiltIndex right, Merge(parts, split));
  INFINO_ASSERT_OK_AND_ASSIGN(
      parts[1].reader,
      TextIndexReader::Open(parts[1].finished.open_part, parts[1].blob->size(), "the bad one"));
  const auto blob = parts[1].blob;
  constexpr size_t kHead = 32;  // not read
  for (int i = 0; i < 150; ++i) {
    const size_t at = kHead + random.Below(static_cast<uint64_t>(blob->size()) - kHead);
    parts[1].blob = Flip(*blob, at, static_cast<uint8_t>(1 + random.Below(255)));
    const auto merged = Merge(parts, split);
    ASSERT_THAT(merged, IsError(ErrorKind::kCorrupt)) << at;
    EXPECT_THAT(merged.status().message(), HasSubstr("the bad one"));
  }
}

/// Nothing that the format can say may crash a merge, nor make it take more than its inputs hold.
TEST_P(TextIndexMerge, SurvivesBadBytesUnderARightChecksumOfTheOpenPart) {
  Random random(TestSeed() + 6);
  const Split split = Deal(random, RandomCorpus(random, {.rows = 200, .vocabulary = 40}), 2,
                           Order::kInterleaved, 0.1);
  std::vector<BuiltIndex> parts = BuildParts(split, options());
  const auto open_part = parts[1].finished.open_part;
  for (size_t at = 0; at + 4 < static_cast<size_t>(open_part->size()); ++at) {
    std::vector<uint8_t> bytes(open_part->data(), open_part->data() + open_part->size());
    bytes[at] = static_cast<uint8_t>(bytes[at] ^ (1 + random.Below(255)));
    const uint32_t checksum = Crc32c(std::span(bytes).first(bytes.size() - 4));
    for (size_t i = 0; i < 4; ++i) {
      bytes[bytes.size() - 4 + i] = static_cast<uint8_t>(checksum >> (8 * i));
    }
    const auto opened =
        TextIndexReader::Open(ToBuffer(std::move(bytes)), parts[1].blob->size(), "the bad one");
    if (!opened.ok()) continue;
    parts[1].reader = *opened;
    const auto merged = Merge(parts, split);
    if (merged.ok()) continue;
    EXPECT_TRUE(IsError(merged.status(), ErrorKind::kCorrupt) ||
                IsError(merged.status(), ErrorKind::kInvalidArgument))
        << merged.status().ToString() << " at " << at;
  }
}

}  // namespace
}  // namespace infino::text
