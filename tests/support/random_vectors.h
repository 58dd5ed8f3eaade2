#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array/array_base.h>

#include "infino/common/random.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {

using Vectors = std::vector<std::vector<float>>;

[[nodiscard]] float DrawGaussian(Random& random);
[[nodiscard]] Vectors GaussianVectors(Random& random, size_t count, size_t dimension);

/// Around `clusters` Gaussian centres, row by row in turn.
[[nodiscard]] Vectors ClusteredVectors(Random& random, size_t count, size_t dimension,
                                       size_t clusters, double spread);

/// The distance as the textbook has it.
[[nodiscard]] double ExactDistance(VectorMetric metric, std::span<const float> left,
                                   std::span<const float> right);

/// As a column: a fixed-size list of floats, of 16 if there is no row.
[[nodiscard]] std::shared_ptr<arrow::Array> ArrayOf(std::span<const std::vector<float>> rows);

}  // namespace infino::vector
