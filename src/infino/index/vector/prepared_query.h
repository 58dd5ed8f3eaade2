#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// A query made ready for all files of a column: rotated and rounded once for each list of
/// reference points, with its distances to the points. Immutable.
class PreparedQuery {
 public:
  /// What codes of one list are compared with.
  struct List {
    explicit List(std::span<const float> rotated_query);

    ScanTable table;
    ScanTerms terms;
    std::vector<float> base;  ///< PointTerms of each point; also how near it is.
    std::vector<float> spread;
    std::vector<float> rotated;  ///< The query less the list's centre, rotated.
  };

  /// `confidence` is how many standard deviations of an estimate's error its lowest distance is
  /// below it. kInvalidArgument for a wrong dimension and for numbers that are not finite.
  [[nodiscard]] static arrow::Result<PreparedQuery> Make(const VectorSpace& space,
                                                         std::span<const float> query,
                                                         double confidence);

  /// The query as NormalizeFor makes it.
  [[nodiscard]] std::span<const float> vector() const { return vector_; }

  [[nodiscard]] const List& list(size_t number) const { return lists_[number]; }

  /// The distance that a code stands for, by the query that was not rounded. The best there is
  /// where vectors are not kept. Added in one order, so it is the same on every machine.
  [[nodiscard]] float EstimateOf(std::span<const uint8_t> record, PointRef point) const;

 private:
  PreparedQuery(const VectorSpace& space, std::span<const float> query, double confidence);

  [[nodiscard]] List PrepareList(const VectorSpace& space, size_t number, double confidence) const;

  VectorMetric metric_;
  std::vector<float> vector_;
  std::vector<List> lists_;
};

}  // namespace infino::vector
