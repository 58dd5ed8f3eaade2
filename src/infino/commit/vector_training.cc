#include "infino/commit/vector_training.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/result.h>
#include <arrow/util/checked_cast.h>

#include "infino/commit/row_slices.h"
#include "infino/common/random.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_space.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {
namespace {

/// From so many lists on a column gets no more by itself; racing commits may add some.
constexpr size_t kTrainedListsMax = 64;

/// A new list has at least so many times the points that there are, if it is for having more.
constexpr size_t kGrowth = 4;

/// Rows are far from their points if they are so many times as far, squared, as the rows that the
/// points were trained on. No row counts for more than so many times.
constexpr double kDrift = 1.25;
constexpr double kRatioMax = 10;

/// What is asked of a sample that is to tell that.
constexpr size_t kDriftRowsMin = 1024;

/// Fewer points than these were trained on too few rows for their distances to mean something.
constexpr size_t kTellingPointsMin = 4;

/// So many rows are compared with the points there are, and with new ones.
constexpr size_t kComparedRows = 1024;
constexpr size_t kSpreadRows = 4096;

/// Distances below this share of a row's square come from rounding.
constexpr double kRounding = 1e-9;

/// All that training looks at.
constexpr size_t kSampleRows =
    vector::TrainOptions{}.points_max * vector::TrainOptions{}.sample_rows_per_point;

size_t PointsOf(size_t row_count) {
  return std::clamp<size_t>(row_count / vector::TrainOptions{}.rows_per_point, 1,
                            vector::kPointsMax);
}

/// The rows of a column, evenly spaced, one after the other.
arrow::Result<std::vector<float>> SampleOf(std::span<const RowSlice> slices, size_t ordinal,
                                           size_t dimension) {
  int64_t row_count = 0;
  for (const RowSlice& slice : slices) row_count += slice.rows->num_rows();
  const int64_t step = (row_count - 1) / static_cast<int64_t>(kSampleRows) + 1;
  std::vector<float> sample;
  sample.reserve(static_cast<size_t>((row_count - 1) / step + 1) * dimension);
  int64_t next = 0;  // in the slice at hand
  for (const RowSlice& slice : slices) {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> column,
                          slice.coercion->CoerceColumn(ordinal, *slice.rows, slice.first_row));
    const auto& lists = arrow::internal::checked_cast<const arrow::FixedSizeListArray&>(*column);
    const auto& values = arrow::internal::checked_cast<const arrow::FloatArray&>(*lists.values());
    for (; next < lists.length(); next += step) {
      const float* const row = values.raw_values() + lists.value_offset(next);
      sample.insert(sample.end(), row, row + dimension);
    }
    next -= lists.length();
  }
  return sample;
}

/// Up to `count` of the rows, evenly spaced, as codes see them; those that have no code left out.
std::vector<float> CodableRows(const vector::VectorColumn& column, std::span<const float> rows,
                               size_t count) {
  const size_t dimension = column.dimension;
  const size_t step = (rows.size() / dimension - 1) / count + 1;
  std::vector<float> codable;
  std::vector<float> row(dimension);
  for (size_t at = 0; at < rows.size(); at += step * dimension) {
    vector::NormalizeFor(column.metric, rows.subspan(at, dimension), row);
    if (vector::IsCodable(row)) codable.insert(codable.end(), row.begin(), row.end());
  }
  return codable;
}

/// The squared distance of each row to the nearest point of one list.
std::vector<double> SquaresTo(const vector::VectorSpace& space, size_t list,
                              std::span<const float> rows) {
  const size_t dimension = space.column().dimension;
  const vector::VectorSpace::List& geometry = space.geometry(list);
  std::vector<float> centred(rows.begin(), rows.end());
  for (size_t i = 0; i < centred.size(); ++i) centred[i] -= geometry.centre[i % dimension];
  std::vector<uint32_t> places(rows.size() / dimension);
  std::vector<float> scores(places.size());
  geometry.nearest.Assign(centred, places, scores);
  std::vector<double> squares;
  squares.reserve(places.size());
  for (size_t row = 0; row < places.size(); ++row) {
    const std::span<const float> point = space.list(list).point(places[row]);
    double square = 0;
    for (size_t i = 0; i < dimension; ++i) {
      const double difference = double{rows[row * dimension + i]} - double{point[i]};
      square += difference * difference;
    }
    squares.push_back(square);
  }
  return squares;
}

/// For each row how many times as far it is, squared, as the rows that a list was trained on, by
/// the list for which that is least; 0 for a row that is a point, up to rounding.
std::vector<double> RatiosOf(const vector::VectorSpace& space,
                             std::span<const ReferencePoints> lists, std::span<const float> rows) {
  const size_t dimension = space.column().dimension;
  std::vector<double> ratios(rows.size() / dimension, kRatioMax);
  for (size_t list = 0; list < lists.size(); ++list) {
    const std::vector<double> squares = SquaresTo(space, list, rows);
    const double spread = lists[list].list->size() < kTellingPointsMin ? 0 : lists[list].spread;
    for (size_t row = 0; row < ratios.size(); ++row) {
      double length = 0;
      for (const float number : rows.subspan(row * dimension, dimension)) {
        length += double{number} * double{number};
      }
      if (squares[row] <= kRounding * length) {
        ratios[row] = 0;
      } else if (spread > 0) {
        ratios[row] = std::min(ratios[row], squares[row] / spread);
      }
    }
  }
  return ratios;
}

/// Whether the rows are to have points of their own beside those of the column.
bool NeedsPoints(const vector::VectorSpace& space, std::span<const ReferencePoints> lists,
                 std::span<const float> sample) {
  const size_t row_count = sample.size() / space.column().dimension;
  size_t points = 0;
  bool is_telling = false;
  for (const ReferencePoints& list : lists) {
    points += list.list->size();
    is_telling |= list.list->size() >= kTellingPointsMin;
  }
  const bool grows = PointsOf(row_count) >= kGrowth * points;
  if (!grows && (row_count < kDriftRowsMin || !is_telling)) return false;
  const std::vector<float> rows = CodableRows(space.column(), sample, kComparedRows);
  const std::vector<double> ratios = RatiosOf(space, lists, rows);
  const double sum = std::accumulate(ratios.begin(), ratios.end(), 0.0);
  return grows ? sum > 0 : sum > kDrift * static_cast<double>(ratios.size());
}

arrow::Result<ReferencePoints> Train(const TableColumn& column, std::span<const float> sample,
                                     Random& random) {
  const vector::VectorColumn& vectors = column.vector->column;
  ReferencePoints points{.field_id = column.field_id, .list = nullptr, .spread = 0};
  const std::vector<float> rows = CodableRows(vectors, sample, kSpreadRows);
  if (rows.empty()) {
    // Nothing to be near to: their codes say nothing anyway.
    ARROW_ASSIGN_OR_RAISE(
        points.list,
        vector::PointList::Make(vectors.dimension, std::vector<float>(vectors.dimension, 0.0F)));
    return points;
  }
  vector::TrainOptions options;
  options.seed = random.Next();
  ARROW_ASSIGN_OR_RAISE(points.list, vector::TrainPoints(vectors, sample, options));
  ARROW_ASSIGN_OR_RAISE(const auto space, vector::VectorSpace::Make(vectors, {points.list}));
  for (const double square : SquaresTo(*space, 0, rows)) points.spread += square;
  points.spread /= static_cast<double>(rows.size() / vectors.dimension);
  return points;
}

/// A new list for the column, if it needs one.
arrow::Result<std::optional<ReferencePoints>> TrainColumn(const Snapshot& base, size_t ordinal,
                                                          std::span<const RowSlice> slices,
                                                          Random& random) {
  const TableColumn& column = base.root.schema.columns[ordinal];
  const auto lists =
      std::ranges::equal_range(base.points, column.field_id, {}, &ReferencePoints::field_id);
  const auto space = base.spaces.find(column.field_id);
  int64_t row_count = 0;
  for (const RowSlice& slice : slices) row_count += slice.rows->num_rows();
  if (space != base.spaces.end() &&
      (lists.size() >= kTrainedListsMax ||
       PointsOf(static_cast<size_t>(row_count)) < kTellingPointsMin)) {
    return std::nullopt;
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<float> sample,
                        SampleOf(slices, ordinal, column.vector->column.dimension));
  if (space != base.spaces.end() &&
      !NeedsPoints(*space->second, std::span(lists.begin(), lists.end()), sample)) {
    return std::nullopt;
  }
  ARROW_ASSIGN_OR_RAISE(ReferencePoints points, Train(column, sample, random));
  const bool is_known = std::ranges::any_of(
      lists, [&](const ReferencePoints& known) { return known.list->id() == points.list->id(); });
  if (is_known) return std::nullopt;
  return points;
}

}  // namespace

arrow::Result<AppendSpaces> TrainForAppend(const Snapshot& base, std::span<const RowSlice> rows,
                                           Random& random) {
  AppendSpaces append;
  const std::vector<TableColumn>& columns = base.root.schema.columns;
  for (size_t ordinal = 0; ordinal < columns.size(); ++ordinal) {
    if (!columns[ordinal].vector) continue;
    ARROW_ASSIGN_OR_RAISE(auto points, TrainColumn(base, ordinal, rows, random));
    if (points) append.added.push_back(*std::move(points));
  }
  std::vector<ReferencePoints> all = base.points;
  all.insert(all.end(), append.added.begin(), append.added.end());
  ARROW_ASSIGN_OR_RAISE(append.spaces, MakeSpaces(base.root.schema, all, base.spaces));
  return append;
}

}  // namespace infino
