#include "infino/query/text_plan.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int32_t kTextField = 1;

/// The smallest and the largest term of each superfile.
using TermRanges = std::vector<std::pair<std::string, std::string>>;

/// A snapshot of superfiles of which only the term ranges are known.
class PlannedTable {
 public:
  explicit PlannedTable(const TermRanges& term_ranges) {
    part_ = std::make_shared<ManifestPart>();
    for (const auto& [min, max] : term_ranges) {
      SuperfileEntry& entry = part_->entries.emplace_back();
      entry.id.bytes[0] = static_cast<uint8_t>(part_->entries.size());
      entry.row_count = 10;
      entry.texts.push_back({.field_id = kTextField,
                             .rows_with_token = 10,
                             .token_total = 20,
                             .term_count = 5,
                             .min_term = min,
                             .max_term = max});
    }
    for (const SuperfileEntry& entry : part_->entries) {
      snapshot_.files.push_back({.entry = &entry, .part = part_.get()});
    }
    snapshot_.parts = {part_};
    snapshot_.root.schema.columns = {
        {.field_id = kTextField,
         .field = arrow::field("text", arrow::large_utf8()),
         .text = TextIndexOptions{}},
        {.field_id = 2, .field = arrow::field("n", arrow::int64()), .text = std::nullopt}};
  }

  [[nodiscard]] ManifestPart& part() { return *part_; }

  arrow::Result<std::vector<int>> Plan(const std::string& text, bool ranked) {
    const std::string column = "text";
    ARROW_ASSIGN_OR_RAISE(const TextPlan plan,
                          PlanText({.column = column, .text = text, .ranked = ranked}, snapshot_,
                                   "folder", nullptr, {}));
    std::vector<int> numbers;
    for (const SuperfileEntry* entry : plan.entries) numbers.push_back(entry->id.bytes[0]);
    return numbers;
  }

  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

 private:
  std::shared_ptr<ManifestPart> part_;
  Snapshot snapshot_;
};

TEST(TextPlan, KeepsTheSuperfilesWhoseTermRangeHoldsATerm) {
  PlannedTable table(TermRanges{{"a", "f"}, {"g", "m"}, {"n", "z"}});
  EXPECT_THAT(table.Plan("cat horse", /*ranked=*/true).ValueOrDie(), ElementsAre(1, 2));
  EXPECT_THAT(table.Plan("zzz", /*ranked=*/true).ValueOrDie(), IsEmpty());
}

TEST(TextPlan, AsksForFrequenciesOnlyWhereRowsAreRanked) {
  PlannedTable table(TermRanges{{"a", "f"}, {"a", "m"}});
  EXPECT_THAT(table.Plan("+cat +horse", /*ranked=*/true).ValueOrDie(), ElementsAre(1, 2));
  EXPECT_THAT(table.Plan("+cat +horse", /*ranked=*/false).ValueOrDie(), ElementsAre(2));
}

TEST(TextPlan, LeavesOutSuperfilesThatHoldExcludedTermsOnly) {
  PlannedTable table(TermRanges{{"a", "f"}, {"g", "m"}});
  EXPECT_THAT(table.Plan("cat -horse", /*ranked=*/true).ValueOrDie(), ElementsAre(1));
}

TEST(TextPlan, AnEmptyQueryConcernsNothing) {
  PlannedTable table(TermRanges{{"a", "f"}});
  EXPECT_THAT(table.Plan("  ...  ", /*ranked=*/true).ValueOrDie(), IsEmpty());
}

TEST(TextPlan, LeavesOutSuperfilesWithoutRowsUnlessTheirStatisticsCount) {
  PlannedTable table(TermRanges{{"a", "f"}, {"b", "m"}});
  SuperfileEntry& entry = table.part().entries[0];
  entry.tombstones = TombstonesRef{.object = {}, .deleted_count = entry.row_count};
  EXPECT_THAT(table.Plan("cat", /*ranked=*/true).ValueOrDie(), ElementsAre(1, 2));
  EXPECT_THAT(table.Plan("cat", /*ranked=*/false).ValueOrDie(), ElementsAre(2));
}

TEST(TextPlan, NamesTheIndexedColumnsWhenAskedForAnotherOne) {
  const PlannedTable table(TermRanges{});
  for (const std::string name : {"n", "nope"}) {
    const auto column = FindTextColumn(table.snapshot().root.schema, name);
    EXPECT_THAT(column, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(column.status().message(), HasSubstr("no full-text index for column '" + name));
    EXPECT_THAT(column.status().message(), HasSubstr("full-text-indexed columns: text"));
  }
}

TEST(Bm25Parameters, ComeFromTheRequestElseTheColumnElseTheDefaults) {
  EXPECT_EQ(ResolveBm25({}, {}, {})->k1, 1.2);
  EXPECT_EQ(ResolveBm25({}, {}, {})->b, 0.75);
  EXPECT_EQ(ResolveBm25({.k1 = 2.0, .b = 0.5}, {}, {})->k1, 2.0);
  EXPECT_EQ(ResolveBm25({.k1 = 2.0, .b = 0.5}, 0.9, 0.0)->k1, 0.9);
  EXPECT_EQ(ResolveBm25({.k1 = 2.0, .b = 0.5}, 0.9, 0.0)->b, 0.0);
}

TEST(Bm25Parameters, AreRefusedOutOfRange) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [k1, b] :
       std::vector<std::pair<std::optional<double>, std::optional<double>>>{{1.2, {}},
                                                                            {{}, 0.5},
                                                                            {0.0, 0.5},
                                                                            {-1.0, 0.5},
                                                                            {nan, 0.5},
                                                                            {infinity, 0.5},
                                                                            {1.2, -0.1},
                                                                            {1.2, 1.1},
                                                                            {1.2, nan}}) {
    EXPECT_THAT(ResolveBm25({}, k1, b), IsError(ErrorKind::kInvalidArgument));
  }
  EXPECT_THAT(ResolveBm25({}, 1e-9, 1.0), IsOk());
}

}  // namespace
}  // namespace infino
