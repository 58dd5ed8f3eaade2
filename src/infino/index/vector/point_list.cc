#include "infino/index/vector/point_list.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_math.h"

namespace infino::vector {
namespace {

std::vector<float> MeanOf(std::span<const float> values, size_t dimension) {
  std::vector<double> sums(dimension);
  for (size_t i = 0; i < values.size(); ++i) sums[i % dimension] += values[i];
  const auto count = static_cast<double>(values.size() / dimension);
  std::vector<float> mean(dimension);
  for (size_t i = 0; i < dimension; ++i) mean[i] = static_cast<float>(sums[i] / count);
  return mean;
}

ContentHash IdOf(size_t dimension, std::span<const float> values) {
  ByteWriter bytes;
  bytes.WriteU32(static_cast<uint32_t>(dimension));
  bytes.WriteBytes(BytesOf(values));
  return Blake3(bytes.bytes());
}

}  // namespace

PointList::PointList(Private /*tag*/, size_t dimension, std::vector<float> values)
    : dimension_(dimension),
      values_(std::move(values)),
      centre_(MeanOf(values_, dimension)),
      id_(IdOf(dimension, values_)) {}

arrow::Result<std::shared_ptr<const PointList>> PointList::Make(size_t dimension,
                                                                std::vector<float> values) {
  const size_t count = dimension == 0 ? 0 : values.size() / dimension;
  if (count == 0 || count > kPointsMax || values.size() % dimension != 0) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "make a list of reference points: it has 1 to 256 points; numbers=" +
                         std::to_string(values.size()) + " dimension=" + std::to_string(dimension));
  }
  if (!IsCodable(values)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "make a list of reference points: a number is not finite or too large");
  }
  return std::make_shared<const PointList>(Private(), dimension, std::move(values));
}

void NormalizeFor(VectorMetric metric, std::span<const float> row, std::span<float> out) {
  double norm = 1;
  if (metric == VectorMetric::kCosine) {
    norm = std::sqrt(PreciseDot(row, row));
    if (!(norm > 0)) norm = 1;
  }
  for (size_t i = 0; i < row.size(); ++i) out[i] = static_cast<float>(row[i] / norm);
}

bool IsCodable(std::span<const float> row) {
  return std::ranges::all_of(row, [](float number) { return std::abs(number) <= kLargestCoded; });
}

}  // namespace infino::vector
