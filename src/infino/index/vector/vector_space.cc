#include "infino/index/vector/vector_space.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/rotation.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_math.h"

namespace infino::vector {
namespace {

arrow::Status Refuse(const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument, "vector column: " + what);
}

std::vector<float> Centred(const PointList& list) {
  std::vector<float> centred(list.values().begin(), list.values().end());
  for (size_t i = 0; i < centred.size(); ++i) centred[i] -= list.centre()[i % list.dimension()];
  return centred;
}

}  // namespace

VectorSpace::List::List(const PointList& list, const Rotation& rotation)
    : centre(list.centre()),
      centred(Centred(list)),
      rotated(centred.size()),
      nearest(centred, list.dimension()) {
  const size_t dimension = list.dimension();
  for (size_t place = 0; place < list.size(); ++place) {
    const auto point = std::span<const float>(centred).subspan(place * dimension, dimension);
    rotation.Apply(point, std::span(rotated).subspan(place * dimension, dimension));
    squares.push_back(PreciseDot(point, point));
    centre_products.push_back(PreciseDot(point, centre));
  }
}

VectorSpace::VectorSpace(Private /*tag*/, const VectorColumn& column,
                         std::vector<std::shared_ptr<const PointList>> lists)
    : column_(column), rotation_(column.dimension, column.rotation_seed), lists_(std::move(lists)) {
  for (const auto& list : lists_) {
    geometries_.push_back(std::make_unique<const List>(*list, rotation_));
  }
}

arrow::Result<std::shared_ptr<const VectorSpace>> VectorSpace::Make(
    const VectorColumn& column, std::vector<std::shared_ptr<const PointList>> lists) {
  if (column.dimension < kDimensionMin || column.dimension > kDimensionMax) {
    return Refuse("it has 16 to 4096 dimensions: dimension=" + std::to_string(column.dimension));
  }
  if (lists.empty() || lists.size() > kListsMax) {
    return Refuse("it has 1 to 256 lists of reference points: lists=" +
                  std::to_string(lists.size()));
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i]->dimension() != column.dimension) {
      return Refuse("a list of reference points has another dimension: list=" +
                    std::to_string(lists[i]->dimension()) +
                    " column=" + std::to_string(column.dimension));
    }
    for (size_t j = 0; j < i; ++j) {
      if (lists[i]->id() == lists[j]->id()) {
        return Refuse("list " + lists[i]->id().ToHex() + " stands there twice");
      }
    }
  }
  return std::make_shared<const VectorSpace>(Private(), column, std::move(lists));
}

std::optional<size_t> VectorSpace::FindList(const ContentHash& id) const {
  for (size_t i = 0; i < lists_.size(); ++i) {
    if (lists_[i]->id() == id) return i;
  }
  return std::nullopt;
}

/// Scores of different lists leave out the square of the row's difference to the list's centre.
void VectorSpace::FindNearest(std::span<const float> rows, std::span<PointRef> points) const {
  const size_t dimension = column_.dimension;
  std::vector<float> centred(rows.size());
  std::vector<uint32_t> places(points.size());
  std::vector<float> scores(points.size());
  std::vector<float> best(points.size());
  for (size_t number = 0; number < lists_.size(); ++number) {
    const List& list = *geometries_[number];
    for (size_t i = 0; i < rows.size(); ++i) centred[i] = rows[i] - list.centre[i % dimension];
    list.nearest.Assign(centred, places, scores);
    for (size_t row = 0; row < points.size(); ++row) {
      if (lists_.size() > 1) {
        const auto moved = std::span<const float>(centred).subspan(row * dimension, dimension);
        scores[row] += Dot(moved, moved) / 2;
      }
      if (number > 0 && !(scores[row] < best[row])) continue;
      best[row] = scores[row];
      points[row] = {.list = static_cast<uint8_t>(number),
                     .place = static_cast<uint8_t>(places[row])};
    }
  }
}

arrow::Status CheckVector(const VectorColumn& column, std::span<const float> row,
                          std::string_view what) {
  if (row.size() != column.dimension) {
    return MakeError(ErrorKind::kInvalidArgument,
                     std::string(what) + " has " + std::to_string(row.size()) +
                         " dimensions; the column has " + std::to_string(column.dimension));
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::isfinite(row[i])) continue;
    return MakeError(ErrorKind::kInvalidArgument,
                     std::string(what) + " has a number that is not finite: place=" +
                         std::to_string(i) + " number=" + std::to_string(row[i]));
  }
  return arrow::Status::OK();
}

}  // namespace infino::vector
