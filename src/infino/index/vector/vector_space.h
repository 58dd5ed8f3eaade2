#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/index/vector/nearest_point.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/rotation.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {

/// A reference point: a list's number and the point's place in it.
struct PointRef {
  uint8_t list = 0;
  uint8_t place = 0;

  friend auto operator<=>(const PointRef&, const PointRef&) = default;
};

/// What all codes of a column are made with: its rotation and its lists of reference points, with
/// what is computed of them once. Takes about three times the lists' size. Immutable, thread-safe.
class VectorSpace {
  struct Private {
    explicit Private() = default;
  };

 public:
  static constexpr size_t kListsMax = 256;

  /// What codes and queries need of one list.
  struct List {
    explicit List(const PointList& list, const Rotation& rotation);

    std::span<const float> centre;        ///< In the list.
    std::vector<float> centred;           ///< The points less the centre.
    std::vector<float> rotated;           ///< The same, rotated.
    std::vector<double> squares;          ///< The centred points' squared lengths.
    std::vector<double> centre_products;  ///< Their inner products with the centre.
    NearestPoint nearest;                 ///< Of `centred`.
  };

  /// kInvalidArgument if a list has another dimension, stands there twice, or if there is none, or
  /// more than 256; or if the column's dimension is not 16 to 4096.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const VectorSpace>> Make(
      const VectorColumn& column, std::vector<std::shared_ptr<const PointList>> lists);

  /// For Make.
  VectorSpace(Private tag, const VectorColumn& column,
              std::vector<std::shared_ptr<const PointList>> lists);

  [[nodiscard]] const VectorColumn& column() const { return column_; }

  [[nodiscard]] const Rotation& rotation() const { return rotation_; }

  [[nodiscard]] size_t list_count() const { return lists_.size(); }

  [[nodiscard]] const PointList& list(size_t number) const { return *lists_[number]; }

  [[nodiscard]] const List& geometry(size_t number) const { return *geometries_[number]; }

  /// The number of the list with that id here.
  [[nodiscard]] std::optional<size_t> FindList(const ContentHash& id) const;

  /// The nearest reference point of each of `rows`, which stand one after the other and went
  /// through NormalizeFor; any point for a row that is not codable.
  void FindNearest(std::span<const float> rows, std::span<PointRef> points) const;

 private:
  VectorColumn column_;
  Rotation rotation_;
  std::vector<std::shared_ptr<const PointList>> lists_;
  std::vector<std::unique_ptr<const List>> geometries_;
};

/// Fails with kInvalidArgument, naming `what`, unless `row` has the column's dimension and every
/// number in it is finite.
[[nodiscard]] arrow::Status CheckVector(const VectorColumn& column, std::span<const float> row,
                                        std::string_view what);

}  // namespace infino::vector
