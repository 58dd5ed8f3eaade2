#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/verify_vector_index.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

std::shared_ptr<arrow::Buffer> Copy(const arrow::Buffer& bytes, int64_t size) {
  return ToBuffer(std::vector<uint8_t>(bytes.data(), bytes.data() + size));
}

class VectorDamage : public ::testing::TestWithParam<RerankTier> {
 protected:
  using Answers = std::vector<std::vector<ScoredDoc>>;

  void SetUp() override {
    Random random(TestSeed());
    rows_ = GaussianVectors(random, 90, 17);
    space_ = SpaceOf({.dimension = 17, .tier = GetParam()}, rows_, 4);
    built_ = BuildVectors(space_, rows_);
    filter_ = std::make_unique<DocFilter>(90);
    for (DocId doc = 0; doc < 90; doc += 3) filter_->Exclude(doc);
    const auto right = Answer(built_.finished.open_part, built_.blob);
    ASSERT_THAT(right, IsOk());
    right_ = *right;
  }

  arrow::Result<Answers> Answer(std::shared_ptr<arrow::Buffer> open_part,
                                std::shared_ptr<arrow::Buffer> blob) const {
    BuiltVectors index;
    ARROW_ASSIGN_OR_RAISE(index.reader,
                          VectorIndexReader::Open(open_part, blob->size(), "damaged"));
    index.blob = std::move(blob);
    Answers answers;
    for (const DocFilter* const filter : std::vector<const DocFilter*>{nullptr, filter_.get()}) {
      for (const bool exact : {false, true}) {
        ARROW_ASSIGN_OR_RAISE(auto hits, Ask(index, *space_, rows_[7],
                                             {.search = {.k = 5, .exact = exact, .few_rows_max = 0},
                                              .filter = filter}));
        answers.push_back(std::move(hits));
      }
    }
    return answers;
  }

  void ExpectErrorOrRight(const arrow::Result<Answers>& answers, int64_t at) const {
    if (answers.ok()) {
      ASSERT_EQ(*answers, right_) << "wrong answer from damage at " << at;
    } else {
      ASSERT_TRUE(IsError(answers.status(), ErrorKind::kCorrupt) ||
                  IsError(answers.status(), ErrorKind::kUnsupportedVersion))
          << answers.status().ToString() << " at " << at;
    }
  }

  Vectors rows_;
  std::shared_ptr<const VectorSpace> space_;
  BuiltVectors built_;
  std::unique_ptr<DocFilter> filter_;
  Answers right_;
};

TEST_P(VectorDamage, AFlippedByteOfTheOpenPartIsNoticed) {
  const arrow::Buffer& open_part = *built_.finished.open_part;
  for (int64_t at = 0; at < open_part.size(); ++at) {
    for (const uint8_t bits : std::vector<uint8_t>{0x01, 0x80, 0xFF}) {
      auto bad = Copy(open_part, open_part.size());
      bad->mutable_data()[at] ^= bits;
      const auto answers = Answer(bad, built_.blob);
      ASSERT_FALSE(answers.ok()) << at;
      ExpectErrorOrRight(answers, at);
    }
  }
}

TEST_P(VectorDamage, AFlippedByteOfTheBlobGivesNoWrongAnswerAndIsFoundByVerify) {
  for (int64_t at = 0; at < built_.blob->size(); ++at) {
    auto bad = Copy(*built_.blob, built_.blob->size());
    bad->mutable_data()[at] ^= static_cast<uint8_t>(1 + at % 255);
    ExpectErrorOrRight(Answer(built_.finished.open_part, bad), at);
    const BufferRangeReader blob(bad, "damaged");
    ASSERT_THAT(VerifyVectorIndex(*built_.reader, blob, SuperfileId()),
                IsError(ErrorKind::kCorrupt))
        << at;
  }
}

TEST_P(VectorDamage, ATruncationIsNoticed) {
  const arrow::Buffer& open_part = *built_.finished.open_part;
  for (int64_t size = 0; size < open_part.size(); ++size) {
    ASSERT_THAT(Answer(Copy(open_part, size), built_.blob), IsError(ErrorKind::kCorrupt)) << size;
  }
  for (int64_t size = 0; size < built_.blob->size(); size += 7) {
    ASSERT_THAT(Answer(built_.finished.open_part, Copy(*built_.blob, size)),
                IsError(ErrorKind::kCorrupt))
        << size;
  }
}

TEST_P(VectorDamage, BadBytesUnderARightChecksumDoNoHarm) {
  Random random(TestSeed() + 1);
  const arrow::Buffer& open_part = *built_.finished.open_part;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bad(open_part.data(), open_part.data() + open_part.size() - 4);
    for (uint64_t edits = 1 + random.Below(3); edits > 0; --edits) {
      bad[random.Below(bad.size())] = static_cast<uint8_t>(random.Next());
    }
    ByteWriter sealed;
    sealed.WriteBytes(bad);
    sealed.WriteU32(Crc32c(bad));
    // Any answer will do but a crash: what the checksum covers was written so.
    static_cast<void>(Answer(ToBuffer(sealed.Take()), built_.blob));
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, VectorDamage,
                         ::testing::Values(RerankTier::kNone, RerankTier::kFp32,
                                           RerankTier::kSq8Residual));

}  // namespace
}  // namespace infino::vector
