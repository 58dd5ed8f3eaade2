#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

/// What a few queries answer.
struct Answers {
  std::vector<std::vector<ScoredDoc>> tops;
  std::vector<std::vector<DocId>> matches;

  friend bool operator==(const Answers&, const Answers&) = default;
};

const std::vector<TextQuery>& Queries() {
  static const std::vector<TextQuery> kQueries = {
      QueryOf(WordOfRank(0) + ' ' + WordOfRank(5) + ' ' + WordOfRank(290)),
      QueryOf('+' + WordOfRank(1) + " -" + WordOfRank(2) + ' ' + WordOfRank(100)),
      QueryOf("rareword"),
  };
  return kQueries;
}

std::shared_ptr<arrow::Buffer> Copy(const arrow::Buffer& bytes, int64_t size) {
  return ToBuffer(std::vector<uint8_t>(bytes.data(), bytes.data() + size));
}

arrow::Result<Answers> Ask(std::shared_ptr<arrow::Buffer> open_part,
                           std::shared_ptr<arrow::Buffer> blob) {
  BuiltIndex index;
  ARROW_ASSIGN_OR_RAISE(index.reader,
                        TextIndexReader::Open(std::move(open_part), blob->size(), "damaged"));
  index.blob = std::move(blob);
  Answers answers;
  for (const TextQuery& query : Queries()) {
    ARROW_ASSIGN_OR_RAISE(auto top, Rank(index, query, {}));
    answers.tops.push_back(std::move(top));
    ARROW_ASSIGN_OR_RAISE(auto matches, MatchAll(index, query));
    answers.matches.push_back(std::move(matches));
  }
  return answers;
}

void ExpectErrorOr(const arrow::Result<Answers>& answers, const Answers& right, size_t at) {
  if (answers.ok()) {
    ASSERT_EQ(*answers, right) << "wrong answer from damage at " << at;
  } else {
    ASSERT_TRUE(IsError(answers.status(), ErrorKind::kCorrupt) ||
                IsError(answers.status(), ErrorKind::kUnsupportedVersion))
        << answers.status().ToString() << " at " << at;
  }
}

class TextDamage : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    Random random(TestSeed() + GetParam());
    Corpus corpus = RandomCorpus(
        random, {.rows = GetParam(), .vocabulary = GetParam(), .length_min = 3, .length_max = 20});
    corpus.emplace_back("a rareword");
    TextIndexOptions options;
    options.positions = true;
    index_ = Build(corpus, options);
    open_part_ = index_.finished.open_part;
    const auto right = Ask(open_part_, index_.blob);
    ASSERT_THAT(right, IsOk());
    right_ = *right;
  }

  BuiltIndex index_;
  std::shared_ptr<arrow::Buffer> open_part_;
  Answers right_;
};

TEST_P(TextDamage, AFlippedByteOfTheOpenPartIsNoticed) {
  for (int64_t at = 0; at < open_part_->size(); ++at) {
    for (const uint8_t bits : std::vector<uint8_t>{0x01, 0x80, 0xFF}) {
      auto bad = Copy(*open_part_, open_part_->size());
      bad->mutable_data()[at] ^= bits;
      const auto answers = Ask(bad, index_.blob);
      ASSERT_FALSE(answers.ok()) << at;
      ExpectErrorOr(answers, right_, static_cast<size_t>(at));
    }
  }
}

TEST_P(TextDamage, AFlippedByteOfTheBlobGivesNoWrongAnswer) {
  int64_t noticed = 0;
  const int64_t step = index_.blob->size() > 4000 ? 3 : 1;
  for (int64_t at = 0; at < index_.blob->size(); at += step) {
    auto bad = Copy(*index_.blob, index_.blob->size());
    bad->mutable_data()[at] ^= static_cast<uint8_t>(1 + at % 255);
    const auto answers = Ask(open_part_, bad);
    if (!answers.ok()) ++noticed;
    ExpectErrorOr(answers, right_, static_cast<size_t>(at));
  }
  // What "rareword" alone leads to is its entry; the other queries read postings and lengths. How
  // much that is depends on the seed, that it is something does not.
  EXPECT_GT(noticed, index_.blob->size() / step / 50);
}

TEST_P(TextDamage, ATruncatedOpenPartIsNoticed) {
  for (int64_t size = 0; size < open_part_->size(); ++size) {
    const auto answers = Ask(Copy(*open_part_, size), index_.blob);
    ASSERT_THAT(answers, IsError(ErrorKind::kCorrupt)) << size;
  }
}

TEST_P(TextDamage, ATruncatedBlobIsNoticed) {
  for (int64_t size = 0; size < index_.blob->size(); size += size < 100 ? 1 : 37) {
    const auto answers = Ask(open_part_, Copy(*index_.blob, size));
    ASSERT_THAT(answers, IsError(ErrorKind::kCorrupt)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, TextDamage, ::testing::Values(40, 600));

TEST(TextIndexReader, RefusesANewerVersion) {
  const BuiltIndex index = Build({"a b", "c"});
  const auto& open_part = *index.finished.open_part;
  std::vector<uint8_t> newer(open_part.data(), open_part.data() + open_part.size() - 4);
  newer[4] = 9;
  ByteWriter sealed;
  sealed.WriteBytes(newer);
  sealed.WriteU32(Crc32c(newer));
  EXPECT_THAT(TextIndexReader::Open(ToBuffer(sealed.Take()), index.blob->size(), "newer"),
              IsError(ErrorKind::kUnsupportedVersion));
}

TEST(TextIndexReader, SurvivesBadBytesUnderARightChecksum) {
  Random random(TestSeed() + 20);
  const BuiltIndex index =
      Build(RandomCorpus(random, {.rows = 500, .vocabulary = 800, .length_max = 30}));
  const auto& open_part = *index.finished.open_part;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bad(open_part.data(), open_part.data() + open_part.size() - 4);
    for (uint64_t edits = 1 + random.Below(3); edits > 0; --edits) {
      bad[random.Below(bad.size())] = static_cast<uint8_t>(random.Next());
    }
    ByteWriter sealed;
    sealed.WriteBytes(bad);
    sealed.WriteU32(Crc32c(bad));
    // Any answer will do but a crash: what the checksum covers was written so.
    static_cast<void>(Ask(ToBuffer(sealed.Take()), index.blob));
  }
}

}  // namespace
}  // namespace infino::text
