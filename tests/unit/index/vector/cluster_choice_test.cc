#include "infino/index/vector/cluster_choice.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_search.h"
#include "infino/index/vector/vector_space.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

/// Clustered rows, dealt to a few files in stretches.
class ClusterChoice : public ::testing::Test {
 protected:
  static constexpr size_t kFiles = 3;
  static constexpr size_t kFileRows = 5000;

  static void SetUpTestSuite() {
    Random random(TestSeed());
    rows_ = ClusteredVectors(random, kFiles * kFileRows, 48, 300, 0.6);
    space_ = SpaceOf({.dimension = 48, .metric = VectorMetric::kL2Squared}, rows_, 128);
    for (size_t i = 0; i < kFiles; ++i) {
      files_.push_back(BuildVectors(space_, std::span(rows_).subspan(i * kFileRows, kFileRows)));
    }
    for (int i = 0; i < 40; ++i) {
      queries_.push_back(rows_[random.Below(rows_.size())]);
      for (float& number : queries_.back()) number += 0.3F * DrawGaussian(random);
    }
  }

  [[nodiscard]] static std::vector<SearchedIndex> Searched(int64_t passing) {
    std::vector<SearchedIndex> searched;
    for (const BuiltVectors& file : files_) {
      searched.push_back({.index = file.reader.get(), .passing_rows = passing});
    }
    return searched;
  }

  /// The k nearest rows of all files, and how many rows were scanned.
  static arrow::Result<std::vector<DocId>> Ask(const std::vector<float>& query,
                                               const RecallOptions& options, double& scanned) {
    ARROW_ASSIGN_OR_RAISE(
        const PreparedQuery prepared,
        PreparedQuery::Make(*space_, query, ConfidenceFor(options.target_recall, false)));
    ARROW_ASSIGN_OR_RAISE(const auto choice, ChooseClusters(*space_, std::span(&prepared, 1),
                                                            Searched(kFileRows), options));
    std::vector<ScoredDoc> all;
    for (size_t i = 0; i < files_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto search,
                            VectorSearch::Make(*files_[i].reader, *space_, std::span(&prepared, 1),
                                               nullptr, {.k = options.k, .clusters = choice[i]}));
      ARROW_RETURN_NOT_OK(Drive(*search, *files_[i].blob));
      for (ScoredDoc hit : search->TopDocs(0)) {
        hit.doc += static_cast<DocId>(i * kFileRows);
        all.push_back(hit);
      }
      if (!choice[i].has_value()) scanned += kFileRows;
      for (const uint32_t ordinal : choice[i].value_or(std::vector<uint32_t>())) {
        scanned += files_[i].reader->clusters()[ordinal].size();
      }
    }
    std::ranges::sort(all, RanksBefore);
    std::vector<DocId> docs;
    for (size_t i = 0; i < std::min<size_t>(options.k, all.size()); ++i) docs.push_back(all[i].doc);
    return docs;
  }

  struct Measured {
    double recall = 0;
    double scanned_share = 0;
  };

  [[nodiscard]] static Measured Measure(const RecallOptions& options) {
    Measured measured;
    double scanned = 0;
    for (const auto& query : queries_) {
      const auto found = Ask(query, options, scanned);
      if (!found.ok()) {
        ADD_FAILURE() << found.status().ToString();
        return measured;
      }
      const auto nearest = NearestOf(VectorMetric::kL2Squared, rows_, query, options.k);
      for (const DocId doc : nearest) {
        measured.recall += std::ranges::count(*found, doc) > 0 ? 1 : 0;
      }
    }
    const auto queries = static_cast<double>(queries_.size());
    measured.recall /= queries * static_cast<double>(options.k);
    measured.scanned_share = scanned / queries / static_cast<double>(rows_.size());
    return measured;
  }

  static void TearDownTestSuite() {
    rows_ = {};
    queries_ = {};
    files_ = {};
    space_ = nullptr;
  }

  static inline Vectors rows_;
  static inline Vectors queries_;
  static inline std::shared_ptr<const VectorSpace> space_;
  static inline std::vector<BuiltVectors> files_;
};

TEST_F(ClusterChoice, FewRowsAreAllScanned) {
  const Measured measured = Measure({});
  EXPECT_EQ(measured.scanned_share, 1);
  EXPECT_GE(measured.recall, 0.99);
}

TEST_F(ClusterChoice, ARecallIsReachedWithFewerRowsTheLowerItIs) {
  double before = 1;
  for (const double target : {0.99, 0.95, 0.90}) {
    const Measured measured = Measure({.target_recall = target, .scan_all_rows_max = 0});
    EXPECT_GE(measured.recall, target - 0.03) << target;
    EXPECT_LT(measured.scanned_share, before) << target;
    before = measured.scanned_share;
  }
  EXPECT_LT(before, 0.5);
}

TEST_F(ClusterChoice, NprobeIsANumberOfReferencePoints) {
  const Measured one = Measure({.nprobe = 1});
  const Measured ten = Measure({.nprobe = 10});
  const Measured all = Measure({.nprobe = 1000});
  EXPECT_LT(one.scanned_share, 0.05);
  EXPECT_LT(one.recall, ten.recall);
  EXPECT_LT(ten.scanned_share, 0.3);
  EXPECT_EQ(all.scanned_share, 1);
  EXPECT_GE(all.recall, 0.99);
}

TEST_F(ClusterChoice, AsManyRowsAsAreWantedAreScannedFor) {
  RecallOptions options = {.target_recall = 0.9, .k = 3000, .scan_all_rows_max = 0};
  double scanned = 0;
  INFINO_ASSERT_OK_AND_ASSIGN(const auto found, Ask(queries_[0], options, scanned));
  EXPECT_EQ(found.size(), 3000);
}

TEST_F(ClusterChoice, AFilterThatKeepsLessThanHalfScansAll) {
  INFINO_ASSERT_OK_AND_ASSIGN(const PreparedQuery prepared,
                              PreparedQuery::Make(*space_, queries_[0], 2));
  const RecallOptions options = {.scan_all_rows_max = 0};
  INFINO_ASSERT_OK_AND_ASSIGN(const auto few, ChooseClusters(*space_, std::span(&prepared, 1),
                                                             Searched(kFileRows / 3), options));
  EXPECT_THAT(few, ::testing::Each(std::nullopt));
  INFINO_ASSERT_OK_AND_ASSIGN(const auto most, ChooseClusters(*space_, std::span(&prepared, 1),
                                                              Searched(kFileRows - 10), options));
  EXPECT_TRUE(most[0].has_value());
}

TEST_F(ClusterChoice, RefusesWhatIsNoRecall) {
  const auto refused = IsError(ErrorKind::kInvalidArgument);
  for (const double target : {0.0, -1.0, 1.01}) {
    EXPECT_THAT(ChooseClusters(*space_, {}, Searched(0), {.target_recall = target}), refused);
  }
  EXPECT_THAT(ChooseClusters(*space_, {}, Searched(0), {.nprobe = 0}), refused);
  EXPECT_TRUE(IsExact({.target_recall = 1}));
  EXPECT_FALSE(IsExact({.target_recall = 1, .nprobe = 3}));
  EXPECT_GT(ConfidenceFor(0.99, true), ConfidenceFor(0.9, true));
  EXPECT_GT(ConfidenceFor(0.99, false), ConfidenceFor(0.99, true));
}

}  // namespace
}  // namespace infino::vector
