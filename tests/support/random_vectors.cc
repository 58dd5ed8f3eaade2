#include "support/random_vectors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

#include "infino/common/random.h"
#include "infino/index/vector/vector_column.h"

namespace infino::vector {

float DrawGaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Unit()));
  return static_cast<float>(radius * std::cos(2 * 3.14159265358979 * random.Unit()));
}

Vectors GaussianVectors(Random& random, size_t count, size_t dimension) {
  Vectors rows(count, std::vector<float>(dimension));
  for (auto& row : rows) {
    for (float& number : row) number = DrawGaussian(random);
  }
  return rows;
}

Vectors ClusteredVectors(Random& random, size_t count, size_t dimension, size_t clusters,
                         double spread) {
  const Vectors centres = GaussianVectors(random, clusters, dimension);
  Vectors rows;
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> row = centres[i % clusters];
    for (float& number : row) number += static_cast<float>(spread * DrawGaussian(random));
    rows.push_back(std::move(row));
  }
  return rows;
}

double ExactDistance(VectorMetric metric, std::span<const float> left,
                     std::span<const float> right) {
  double product = 0;
  double apart = 0;
  double left_square = 0;
  double right_square = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    product += double{left[i]} * right[i];
    const double difference = double{left[i]} - right[i];
    apart += difference * difference;
    left_square += double{left[i]} * left[i];
    right_square += double{right[i]} * right[i];
  }
  if (metric == VectorMetric::kL2Squared) return apart;
  if (metric == VectorMetric::kNegativeDot) return -product;
  const double lengths = std::sqrt(left_square) * std::sqrt(right_square);
  return lengths > 0 ? 1 - product / lengths : 1;
}

std::shared_ptr<arrow::Array> ArrayOf(std::span<const std::vector<float>> rows) {
  const auto dimension = rows.empty() ? 16 : static_cast<int32_t>(rows.front().size());
  std::vector<float> numbers;
  for (const auto& row : rows) numbers.insert(numbers.end(), row.begin(), row.end());
  const auto count = static_cast<int64_t>(numbers.size());
  auto values =
      std::make_shared<arrow::FloatArray>(count, arrow::Buffer::FromVector(std::move(numbers)));
  return std::make_shared<arrow::FixedSizeListArray>(
      arrow::fixed_size_list(arrow::float32(), dimension), static_cast<int64_t>(rows.size()),
      std::move(values));
}

}  // namespace infino::vector
