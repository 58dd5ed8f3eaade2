#include "infino/index/vector/prepared_query.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/small_floats.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_math.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

/// What a reference point adds to the distance of all vectors near it.
double BaseOf(VectorMetric metric, double apart, double product) {
  switch (metric) {
    case VectorMetric::kL2Squared:
      return apart;
    case VectorMetric::kCosine:
      return 1 - product;
    case VectorMetric::kNegativeDot:
      break;
  }
  return -product;
}

}  // namespace

PreparedQuery::List::List(std::span<const float> rotated_query)
    : table(rotated_query), rotated(rotated_query.begin(), rotated_query.end()) {}

PreparedQuery::PreparedQuery(const VectorSpace& space, std::span<const float> query,
                             double confidence)
    : metric_(space.column().metric), vector_(query.size()) {
  NormalizeFor(metric_, query, vector_);
  for (size_t number = 0; number < space.list_count(); ++number) {
    lists_.push_back(PrepareList(space, number, confidence));
  }
}

arrow::Result<PreparedQuery> PreparedQuery::Make(const VectorSpace& space,
                                                 std::span<const float> query, double confidence) {
  ARROW_RETURN_NOT_OK(CheckVector(space.column(), query, "query vector"));
  return PreparedQuery(space, query, confidence);
}

PreparedQuery::List PreparedQuery::PrepareList(const VectorSpace& space, size_t number,
                                               double confidence) const {
  const size_t dimension = vector_.size();
  const VectorSpace::List& geometry = space.geometry(number);
  std::vector<float> moved(dimension);
  for (size_t i = 0; i < dimension; ++i) moved[i] = vector_[i] - geometry.centre[i];
  std::vector<float> rotated(dimension);
  space.rotation().Apply(moved, rotated);
  List list(rotated);
  const double slope = SlopeOf(metric_);
  list.terms.slope = static_cast<float>(slope * list.table.step());
  // Rounding errors are spread evenly over a step.
  const double rounding = list.table.step() * std::sqrt(static_cast<double>(dimension) / 12);
  list.terms.noise = static_cast<float>(confidence * std::abs(slope) * rounding);
  const double moved_square = PreciseDot(moved, moved);
  const double centre_product =
      PreciseDot(moved, geometry.centre) + PreciseDot(geometry.centre, geometry.centre);
  // Without vectors to compare with, a code's distance is its row's: only what rounding the query
  // did to it is open.
  const bool compares = space.column().tier != RerankTier::kNone;
  const double spread_unit = compares ? confidence * std::abs(slope) * SpreadUnit(dimension) : 0.0;
  for (size_t place = 0; place < geometry.squares.size(); ++place) {
    const auto point =
        std::span<const float>(geometry.centred).subspan(place * dimension, dimension);
    const double aligned = Dot(moved, point);
    const double apart = std::max(0.0, moved_square + geometry.squares[place] - 2 * aligned);
    const double product = centre_product + aligned + geometry.centre_products[place];
    list.base.push_back(static_cast<float>(BaseOf(metric_, apart, product)));
    list.spread.push_back(static_cast<float>(spread_unit * std::sqrt(apart)));
  }
  return list;
}

float PreparedQuery::EstimateOf(std::span<const uint8_t> record, PointRef point) const {
  const List& list = lists_[point.list];
  const size_t dimension = vector_.size();
  const uint8_t* const factors = record.data() + CodeBytes(dimension);
  double positive = 0;
  double all = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const double number = list.rotated[i];
    all += number;
    positive += (record[i / 8] >> (i % 8) & 1) != 0 ? number : 0;
  }
  const double offset = std::bit_cast<float>(LoadU32(factors));
  const double scale = BriefToFloat(LoadU16(factors + 4));
  const double distance =
      list.base[point.place] + offset + SlopeOf(metric_) * scale * (2 * positive - all);
  return ClampDistance(metric_, distance);
}

}  // namespace infino::vector
