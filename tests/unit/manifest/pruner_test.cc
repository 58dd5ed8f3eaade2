#include "infino/manifest/pruner.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/codec/bloom_filter.h"
#include "infino/common/bytes.h"
#include "infino/common/random.h"
#include "infino/manifest/manifest.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SuperfileEntry EntryWithTerms(const std::string& min_term, const std::string& max_term) {
  SuperfileEntry entry;
  entry.texts.push_back({.field_id = 4,
                         .rows_with_token = 1,
                         .token_total = 2,
                         .term_count = 2,
                         .min_term = min_term,
                         .max_term = max_term});
  return entry;
}

TEST(Pruner, TheBoundsThemselvesMayBeHeld) {
  const SuperfileEntry entry = EntryWithTerms("bear", "fox");
  EXPECT_TRUE(MayHoldTerm(entry, 4, "bear"));
  EXPECT_TRUE(MayHoldTerm(entry, 4, "cat"));
  EXPECT_TRUE(MayHoldTerm(entry, 4, "fox"));
  EXPECT_FALSE(MayHoldTerm(entry, 4, "bea"));
  EXPECT_FALSE(MayHoldTerm(entry, 4, "foxes"));
}

TEST(Pruner, BytesCompareUnsigned) {
  const SuperfileEntry entry = EntryWithTerms("a", "\xC3\xBC");
  EXPECT_TRUE(MayHoldTerm(entry, 4, "z"));
  EXPECT_TRUE(MayHoldTerm(entry, 4, "\xC3\xA4"));
  EXPECT_FALSE(MayHoldTerm(entry, 4, "\xE2\x82\xAC"));
}

TEST(Pruner, AnEmptyLargestTermIsNoBound) {
  const SuperfileEntry entry = EntryWithTerms("bear", "");
  EXPECT_TRUE(MayHoldTerm(entry, 4, "zebra"));
  EXPECT_TRUE(MayHoldPrefix(entry, 4, "z"));
  EXPECT_FALSE(MayHoldTerm(entry, 4, "ant"));
}

TEST(Pruner, WithoutAnIndexOrTokensNothingIsHeld) {
  SuperfileEntry entry = EntryWithTerms("a", "z");
  EXPECT_FALSE(MayHoldTerm(entry, 5, "cat"));
  entry.texts[0].term_count = 0;
  EXPECT_FALSE(MayHoldTerm(entry, 4, "cat"));
  EXPECT_FALSE(MayHoldPrefix(entry, 4, "c"));
}

TEST(Pruner, APrefixIsHeldIfAnyTermBetweenTheBoundsBeginsWithIt) {
  Random random(TestSeed());
  const auto word = [&random] {
    std::string text(random.Below(4), 'a');
    for (char& c : text) c = static_cast<char>('a' + random.Below(3));
    return text;
  };
  for (int round = 0; round < 2'000; ++round) {
    std::set<std::string> terms;
    while (terms.size() < 3) terms.insert(word());
    const SuperfileEntry entry = EntryWithTerms(*terms.begin(), *terms.rbegin());
    const std::string prefix = word();
    for (const std::string& term : terms) {
      EXPECT_TRUE(!term.starts_with(prefix) || MayHoldPrefix(entry, 4, prefix)) << prefix;
      EXPECT_TRUE(MayHoldTerm(entry, 4, term));
    }
  }
  EXPECT_FALSE(MayHoldPrefix(EntryWithTerms("bear", "fox"), 4, "g"));
  EXPECT_FALSE(MayHoldPrefix(EntryWithTerms("bear", "fox"), 4, "a"));
  EXPECT_TRUE(MayHoldPrefix(EntryWithTerms("bear", "fox"), 4, "be"));
}

TEST(Pruner, TheFilterNeverLosesATermAndDropsMostOthers) {
  constexpr size_t kCount = 2'000;
  BloomFilterBuilder builder(kCount);
  std::vector<std::string> held;
  std::vector<std::string> others;
  for (size_t i = 0; i < kCount; ++i) {
    held.push_back("held" + std::to_string(i));
    others.push_back("other" + std::to_string(i));
    builder.Add(held.back());
  }
  const auto filter = ToBuffer(builder.Finish());
  const SuperfileEntry entry = EntryWithTerms("a", "z");
  EXPECT_EQ(TermsThatMayOccur(entry, 4, held, filter.get()).size(), kCount);
  EXPECT_LT(TermsThatMayOccur(entry, 4, others, filter.get()).size(), kCount / 20);
  EXPECT_EQ(TermsThatMayOccur(entry, 4, others, nullptr).size(), kCount);
}

TEST(Pruner, AnUnreadableFilterRulesNothingOut) {
  const auto filter = arrow::Buffer::FromString("not a filter");
  const std::vector<std::string> terms = {"ant", "cat", "dog"};
  const SuperfileEntry entry = EntryWithTerms("bear", "fox");
  EXPECT_THAT(TermsThatMayOccur(entry, 4, terms, filter.get()), ElementsAre(1, 2));
  EXPECT_THAT(TermsThatMayOccur(entry, 5, terms, filter.get()), IsEmpty());
}

}  // namespace
}  // namespace infino
