#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index_spec.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<arrow::Array> ColumnOf(const Corpus& corpus) {
  arrow::LargeStringBuilder texts;
  for (const std::optional<std::string>& text : corpus) {
    Check(text.has_value() ? texts.Append(*text) : texts.AppendNull());
  }
  return texts.Finish().ValueOrDie();
}

struct SpilledIndex {
  BuiltIndex index;
  int64_t peak_bytes = 0;  ///< As the builder says, after any row.
};

/// What a builder with a limit makes of the rows, one by one.
arrow::Result<SpilledIndex> BuildWithin(int64_t limit_bytes,
                                        const std::shared_ptr<MemoryScratch>& scratch,
                                        const Corpus& corpus, const TextIndexOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto builder,
                        TextIndexBuilder::Make(options, SuperfileId{},
                                               {.limit_bytes = limit_bytes, .scratch = scratch}));
  const auto column = ColumnOf(corpus);
  SpilledIndex built;
  for (int64_t row = 0; row < column->length(); ++row) {
    ARROW_RETURN_NOT_OK(builder->Add(*column->Slice(row, 1)));
    built.peak_bytes = std::max(built.peak_bytes, builder->memory_bytes());
  }
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto visit = [&built](std::string_view term) { built.index.visited.emplace_back(term); };
  ARROW_ASSIGN_OR_RAISE(built.index.finished, builder->Finish(*sink, visit));
  ARROW_ASSIGN_OR_RAISE(built.index.blob, sink->Finish());
  return built;
}

void ExpectSame(const BuiltIndex& spilled, const BuiltIndex& built) {
  EXPECT_EQ(spilled.finished.summary, built.finished.summary);
  EXPECT_EQ(spilled.finished.blob_length, built.finished.blob_length);
  EXPECT_TRUE(spilled.blob->Equals(*built.blob));
  EXPECT_TRUE(spilled.finished.open_part->Equals(*built.finished.open_part));
  EXPECT_EQ(spilled.visited, built.visited);
}

class TextIndexSpill : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] TextIndexOptions options() const { return {.positions = GetParam()}; }

  std::shared_ptr<MemoryScratch> scratch_ = std::make_shared<MemoryScratch>();
};

INSTANTIATE_TEST_SUITE_P(Positions, TextIndexSpill, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "with" : "without"; });

TEST_P(TextIndexSpill, MakesTheSameBytesWhenEveryRowIsARun) {
  Random random(TestSeed());
  // Up to where runs of runs are merged once more.
  for (const uint32_t rows : {1U, 2U, 15U, 16U, 17U, 33U, 700U}) {
    const Corpus corpus = RandomCorpus(
        random, {.rows = rows, .vocabulary = 200, .length_max = 20, .null_share = 0.2});
    SCOPED_TRACE("rows=" + std::to_string(rows));
    scratch_ = std::make_shared<MemoryScratch>();
    INFINO_ASSERT_OK_AND_ASSIGN(const SpilledIndex spilled,
                                BuildWithin(1, scratch_, corpus, options()));
    ExpectSame(spilled.index, Build(corpus, options()));
    EXPECT_EQ(scratch_->files(), 1);
    EXPECT_EQ(scratch_->open_files(), 0);
  }
}

TEST_P(TextIndexSpill, MakesTheSameBytesAtAnyLimit) {
  Random random(TestSeed() + 1);
  int spilled_count = 0;
  for (int round = 0; round < 12; ++round) {
    const CorpusShape shape{.rows = static_cast<uint32_t>(1 + random.Below(6000)),
                            .vocabulary = static_cast<uint32_t>(1 + random.Below(20'000)),
                            .length_max = static_cast<uint32_t>(1 + random.Below(40)),
                            .null_share = 0.1,
                            .skew = random.Unit()};
    const Corpus corpus = RandomCorpus(random, shape);
    const auto limit = static_cast<int64_t>(100'000 + random.Below(500'000));
    SCOPED_TRACE("rows=" + std::to_string(shape.rows) + " limit=" + std::to_string(limit));
    scratch_ = std::make_shared<MemoryScratch>();
    INFINO_ASSERT_OK_AND_ASSIGN(const SpilledIndex spilled,
                                BuildWithin(limit, scratch_, corpus, options()));
    ExpectSame(spilled.index, Build(corpus, options()));
    if (scratch_->files() > 0) ++spilled_count;
  }
  EXPECT_GT(spilled_count, 2);
}

/// Many different terms, so that the dictionary too is more than what is kept in memory.
TEST_P(TextIndexSpill, StaysWithinItsLimit) {
  Random random(TestSeed() + 2);
  constexpr int64_t kLimit = int64_t{2} << 20;
  Corpus corpus;
  for (int row = 0; row < 40'000; ++row) {
    corpus.emplace_back("unique" + std::to_string(row * 7919) + " w" +
                        std::to_string(random.Below(3000)) + " common w" +
                        std::to_string(random.Below(30)));
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const SpilledIndex spilled,
                              BuildWithin(kLimit, scratch_, corpus, options()));
  EXPECT_LE(spilled.peak_bytes, kLimit);
  ExpectSame(spilled.index, Build(corpus, options()));
  INFINO_ASSERT_OK_AND_ASSIGN(const SpilledIndex held, BuildWithin(0, scratch_, corpus, options()));
  EXPECT_GT(held.peak_bytes, 2 * kLimit);
}

TEST_P(TextIndexSpill, NeedsNoScratchBelowItsLimit) {
  const auto none = std::make_shared<MemoryScratch>(MemoryScratch::Plan{.files_max = 0});
  Random random(TestSeed() + 3);
  const Corpus corpus = RandomCorpus(random, {.rows = 1000});
  INFINO_ASSERT_OK_AND_ASSIGN(const SpilledIndex spilled,
                              BuildWithin(int64_t{64} << 20, none, corpus, options()));
  ExpectSame(spilled.index, Build(corpus, options()));
}

TEST_P(TextIndexSpill, FailsAsItsScratchDoes) {
  Random random(TestSeed() + 4);
  const Corpus corpus = RandomCorpus(random, {.rows = 400, .vocabulary = 500});
  const auto build = [&](MemoryScratch::Plan plan) {
    scratch_ = std::make_shared<MemoryScratch>(plan);
    return BuildWithin(1, scratch_, corpus, options()).status();
  };
  INFINO_ASSERT_OK(build({}));
  const int64_t bytes = scratch_->bytes();
  const int64_t reads = scratch_->reads();
  const auto expect = [&](const arrow::Status& status, ErrorKind kind, std::string_view word) {
    EXPECT_THAT(status, IsError(kind));
    EXPECT_THAT(status.message(), HasSubstr(std::string(word)));
    EXPECT_EQ(scratch_->open_files(), 0);
  };
  expect(build({.files_max = 0}), ErrorKind::kUnavailable, "/memory");
  for (int round = 0; round < 20; ++round) {
    const auto below = [&random](int64_t limit) {
      return static_cast<int64_t>(random.Below(static_cast<uint64_t>(limit)));
    };
    expect(build({.bytes_max = below(bytes)}), ErrorKind::kResourceExhausted, "/memory");
    expect(build({.reads_max = below(reads)}), ErrorKind::kUnavailable, "/memory");
    expect(build({.flipped_read = below(reads)}), ErrorKind::kCorrupt, "scratch file");
  }
}

}  // namespace
}  // namespace infino::text
