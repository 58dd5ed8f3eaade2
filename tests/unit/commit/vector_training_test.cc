#include "infino/commit/vector_training.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/commit/row_coercion.h"
#include "infino/commit/row_slices.h"
#include "infino/common/random.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/points_codec.h"
#include "infino/supertable/snapshot.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/commit/vector_rows.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino {
namespace {

using vector::GaussianVectors;
using vector::Vectors;

/// A table as far as training sees it.
class TrainedTable {
 public:
  explicit TrainedTable(const vector::VectorColumn& column) {
    snapshot_.root.schema = RowVectorTableSchema(column);
  }

  /// Whether rows that start like `vectors` bring a new list.
  bool Append(const Vectors& vectors) {
    const auto batch = VectorRows(0, vectors);
    const auto coercion = std::make_shared<const RowCoercion>(
        RowCoercion::Make(snapshot_.root.schema, *batch->schema()).ValueOrDie());
    std::vector<RowSlice> slices = SliceRows(batch, 1000, int64_t{1} << 30);
    for (RowSlice& slice : slices) slice.coercion = coercion;
    AppendSpaces append = TrainForAppend(snapshot_, slices, random_).ValueOrDie();
    EXPECT_LE(append.added.size(), 1U);
    snapshot_.spaces = append.spaces;
    snapshot_.points.insert(snapshot_.points.end(), append.added.begin(), append.added.end());
    const vector::VectorSpace& space = *snapshot_.spaces.at(kVectorFieldId);
    EXPECT_EQ(space.list_count(), snapshot_.points.size());
    for (size_t i = 0; i < snapshot_.points.size(); ++i) {
      EXPECT_EQ(space.list(i).id(), snapshot_.points[i].list->id());
    }
    return !append.added.empty();
  }

  /// A list as racing commits may have brought it.
  void AddList(const std::vector<float>& point) {
    snapshot_.points.push_back({.field_id = kVectorFieldId,
                                .list = vector::PointList::Make(point.size(), point).ValueOrDie(),
                                .spread = 0});
    snapshot_.spaces =
        MakeSpaces(snapshot_.root.schema, snapshot_.points, snapshot_.spaces).ValueOrDie();
  }

  [[nodiscard]] const std::vector<ReferencePoints>& points() const { return snapshot_.points; }

 private:
  Random random_{TestSeed()};
  Snapshot snapshot_;
};

constexpr vector::VectorColumn kL2{
    .dimension = 16, .metric = vector::VectorMetric::kL2Squared, .rotation_seed = 1};
constexpr vector::VectorColumn kCosine{.dimension = 16, .rotation_seed = 1};

/// Vectors around centres that stay the same: of one kind of data.
class Source {
 public:
  Source(Random& random, size_t centres, size_t dimension, double spread, double scale = 1)
      : random_(random), spread_(spread), centres_(GaussianVectors(random, centres, dimension)) {
    for (auto& centre : centres_) {
      for (float& number : centre) number *= static_cast<float>(scale);
    }
  }

  [[nodiscard]] Vectors Draw(size_t count) const {
    Vectors rows;
    for (size_t i = 0; i < count; ++i) {
      rows.push_back(centres_[random_.Below(centres_.size())]);
      for (float& number : rows.back()) {
        number += static_cast<float>(spread_ * vector::DrawGaussian(random_));
      }
    }
    return rows;
  }

 private:
  Random& random_;
  double spread_;
  Vectors centres_;
};

class TrainForAppendTest : public ::testing::TestWithParam<vector::VectorColumn> {
 protected:
  Random random_{TestSeed()};
};

INSTANTIATE_TEST_SUITE_P(Metrics, TrainForAppendTest, ::testing::Values(kL2, kCosine));

TEST_P(TrainForAppendTest, TrainsWhereThereIsNothing) {
  const Source source(random_, 20, 16, 0.3);
  for (const auto& [rows, points] :
       std::vector<std::pair<size_t, size_t>>{{1, 1}, {31, 1}, {64, 2}, {1000, 31}, {9000, 256}}) {
    TrainedTable table(GetParam());
    EXPECT_TRUE(table.Append(source.Draw(rows)));
    // k-means may leave a point without rows.
    EXPECT_LE(table.points()[0].list->size(), points);
    EXPECT_GE(table.points()[0].list->size(), (points + 1) / 2);
    EXPECT_EQ(table.points()[0].field_id, kVectorFieldId);
    EXPECT_GE(table.points()[0].spread, 0);
  }
}

TEST_P(TrainForAppendTest, MoreOfTheSameNeedsNothingNew) {
  for (const size_t centres : std::vector<size_t>{1, 20, 1000}) {
    for (const double spread : {0.1, 2.0}) {
      for (const size_t first : std::vector<size_t>{1024, 4000}) {
        const Source source(random_, centres, 16, spread);
        TrainedTable table(GetParam());
        table.Append(source.Draw(first));
        for (int i = 0; i < 3; ++i) {
          EXPECT_FALSE(table.Append(source.Draw(1024)))
              << centres << " centres, spread " << spread << ", first " << first;
        }
        EXPECT_FALSE(table.Append(source.Draw(100)));
      }
    }
  }
}

TEST_P(TrainForAppendTest, AFewFirstRowsAreFollowedByAFewLists) {
  const Source source(random_, 50, 16, 0.3);
  TrainedTable table(GetParam());
  for (int i = 0; i < 30; ++i) table.Append(source.Draw(1));
  EXPECT_EQ(table.points().size(), 1U);
  for (const size_t rows : std::vector<size_t>{127, 128, 1000, 1000, 2000, 5000, 20'000}) {
    table.Append(source.Draw(rows));
  }
  EXPECT_LE(table.points().size(), 5U);
  size_t points = 0;
  for (const ReferencePoints& list : table.points()) points += list.list->size();
  EXPECT_GE(points, 64U);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(table.Append(source.Draw(2000)));
}

TEST_P(TrainForAppendTest, DriftedDataGetsPointsOfItsOwnOnce) {
  const Source before(random_, 20, 16, 0.3);
  TrainedTable table(GetParam());
  table.Append(before.Draw(4000));
  for (int drift = 0; drift < 2; ++drift) {
    const Source after(random_, 20, 16, 0.3);
    EXPECT_FALSE(table.Append(after.Draw(1023)));
    EXPECT_TRUE(table.Append(after.Draw(1024)));
    EXPECT_FALSE(table.Append(after.Draw(1024)));
    EXPECT_FALSE(table.Append(before.Draw(1024)));
  }
}

TEST_P(TrainForAppendTest, ATenthThatIsElsewhereIsEnough) {
  const Source before(random_, 20, 16, 0.1);
  const Source after(random_, 20, 16, 0.1);
  TrainedTable table(GetParam());
  table.Append(before.Draw(4000));
  const auto mixed = [&] {
    Vectors rows = before.Draw(2700);
    const Vectors more = after.Draw(300);
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  };
  EXPECT_TRUE(table.Append(mixed()));
  EXPECT_FALSE(table.Append(mixed()));
}

TEST(TrainForAppend, TightAndWideDataCanTakeTurns) {
  Random random(TestSeed());
  const Source tight(random, 5, 16, 0.01);
  const Source wide(random, 5, 16, 3);
  TrainedTable table(kL2);
  table.Append(tight.Draw(3000));
  EXPECT_TRUE(table.Append(wide.Draw(3000)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(table.Append(tight.Draw(2000)));
    EXPECT_FALSE(table.Append(wide.Draw(2000)));
  }
}

TEST(TrainForAppend, SingleFarRowsAreNoDrift) {
  Random random(TestSeed());
  const Source source(random, 20, 16, 0.3);
  TrainedTable table(kL2);
  table.Append(source.Draw(4000));
  for (int i = 0; i < 5; ++i) {
    Vectors rows = source.Draw(2000);
    for (size_t far = 0; far < 10; ++far) rows[far * 200] = std::vector<float>(16, 1e6F);
    EXPECT_FALSE(table.Append(rows));
  }
}

TEST_P(TrainForAppendTest, RowsThatAreTheirPointsNeedNoOthers) {
  const Vectors distinct = GaussianVectors(random_, 3, 16);
  const auto draw = [&](size_t count) {
    Vectors rows;
    for (size_t i = 0; i < count; ++i) rows.push_back(distinct[i % distinct.size()]);
    return rows;
  };
  TrainedTable table(GetParam());
  table.Append(draw(3000));
  EXPECT_EQ(table.points()[0].list->size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(table.Append(draw(5000)));
  const Vectors zeros(2000, std::vector<float>(16));
  TrainedTable of_zeros(GetParam());
  EXPECT_TRUE(of_zeros.Append(zeros));
  EXPECT_FALSE(of_zeros.Append(zeros));
}

TEST(TrainForAppend, RowsWithoutACodeGetAPointAtZero) {
  const Vectors huge(2000, std::vector<float>(16, 1e30F));
  TrainedTable table(kL2);
  EXPECT_TRUE(table.Append(huge));
  ASSERT_EQ(table.points()[0].list->size(), 1U);
  EXPECT_TRUE(std::ranges::all_of(table.points()[0].list->values(),
                                  [](float number) { return number == 0; }));
  EXPECT_EQ(table.points()[0].spread, 0);
  EXPECT_FALSE(table.Append(huge));
}

TEST(TrainForAppend, AColumnGetsAtMostSoManyListsByItself) {
  Random random(TestSeed());
  TrainedTable table(kL2);
  for (int i = 0; i < 64; ++i) table.AddList(GaussianVectors(random, 1, 16)[0]);
  EXPECT_FALSE(table.Append(Source(random, 20, 16, 0.3, 100).Draw(9000)));
}

TEST(TrainForAppend, SpreadsAreMeanSquaredDistances) {
  Random random(TestSeed());
  TrainedTable table(kL2);
  // One centre, one point: the variance of all coordinates together.
  table.Append(Source(random, 1, 16, 0.5).Draw(60));
  EXPECT_EQ(table.points()[0].list->size(), 1U);
  EXPECT_NEAR(table.points()[0].spread, 16 * 0.25, 2);
}

TEST(TrainForAppend, ABadVectorIsNamedByItsRow) {
  Random random(TestSeed());
  Vectors rows = GaussianVectors(random, 50, 16);
  rows[44][1] = std::numeric_limits<float>::infinity();
  Snapshot snapshot;
  snapshot.root.schema = RowVectorTableSchema(kL2);
  const auto batch = VectorRows(0, rows);
  const auto coercion = std::make_shared<const RowCoercion>(
      RowCoercion::Make(snapshot.root.schema, *batch->schema()).ValueOrDie());
  std::vector<RowSlice> slices = SliceRows(batch, 10, int64_t{1} << 30);
  for (size_t i = 0; i < slices.size(); ++i) {
    slices[i].coercion = coercion;
    slices[i].first_row = 100 + 10 * i;
  }
  const auto trained = TrainForAppend(snapshot, slices, random);
  ASSERT_THAT(trained, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(trained.status().message(),
              ::testing::HasSubstr("row 144: column 'v': the vector has an infinity at 1"));
}

}  // namespace
}  // namespace infino
