#include "infino/index/vector/vector_row.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/index/vector/row_kernels.h"
#include "infino/index/vector/small_floats.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_math.h"

namespace infino::vector {
namespace {

constexpr size_t kHeadBytes = 8;  // scale, length
constexpr size_t kChecksumBytes = 4;

/// The greatest numbers: with what a residual adds they fit 16 bits.
constexpr float kSq8Largest = 127;
constexpr float kResidualLargest = 127 * 256 + 127;

/// Lengths beyond these are not kept: too little of them fits a float.
constexpr double kLengthMin = 1e-30;
constexpr double kLengthMax = 1e30;

NumberEncoding EncodingOf(RerankTier tier) {
  switch (tier) {
    case RerankTier::kFp32:
      return NumberEncoding::kFp32;
    case RerankTier::kFp16:
      return NumberEncoding::kFp16;
    case RerankTier::kSq8:
      return NumberEncoding::kSq8;
    default:
      return NumberEncoding::kSq8Residual;
  }
}

void StoreU32(uint32_t value, uint8_t* out) {
  for (size_t i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}

float LoadFloat(const uint8_t* at) {
  return std::bit_cast<float>(LoadU32(at));
}

/// What a vector's numbers are multiples of. A normal float, so that dividing by it works.
float ScaleOf(NumberEncoding encoding, float largest) {
  constexpr float kLeast = std::numeric_limits<float>::min();
  switch (encoding) {
    case NumberEncoding::kFp32:
      return 1;
    case NumberEncoding::kFp16:
      // The greatest number is 2^13 to 2^14 then, and small ones keep their digits.
      return largest > 0 ? std::max(kLeast, std::ldexp(1.0F, std::ilogb(largest) - 13)) : 1;
    case NumberEncoding::kSq8:
      return std::max(kLeast, largest / kSq8Largest);
    case NumberEncoding::kSq8Residual:
      break;
  }
  return std::max(kLeast, largest / kResidualLargest);
}

int32_t RoundTo(float number, float largest) {
  const float half = number < 0 ? -0.5F : 0.5F;
  return static_cast<int32_t>(std::clamp(number + half, -largest, largest));
}

void EncodeNumber(NumberEncoding encoding, float scaled, size_t dimension, uint8_t* numbers,
                  size_t ordinal) {
  if (encoding == NumberEncoding::kFp32) {
    StoreU32(std::bit_cast<uint32_t>(scaled), numbers + 4 * ordinal);
  } else if (encoding == NumberEncoding::kFp16) {
    const uint16_t half = FloatToHalf(scaled);
    numbers[2 * ordinal] = static_cast<uint8_t>(half);
    numbers[2 * ordinal + 1] = static_cast<uint8_t>(half >> 8U);
  } else if (encoding == NumberEncoding::kSq8) {
    numbers[ordinal] = static_cast<uint8_t>(RoundTo(scaled, kSq8Largest));
  } else {
    const int32_t number = RoundTo(scaled, kResidualLargest);
    const int32_t high = (number + 128) >> 8;
    numbers[ordinal] = static_cast<uint8_t>(high);
    numbers[dimension + ordinal] = static_cast<uint8_t>(number - 256 * high);
  }
}

/// The length of the numbers before their scale; infinity if a float can't tell.
float LengthOf(NumberEncoding encoding, const uint8_t* numbers, size_t dimension) {
  double square = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const double number = NumberAt(encoding, numbers, dimension, i);
    square += number * number;
  }
  const double length = std::sqrt(square);
  if (length == 0) return 0;
  return length < kLengthMin || length > kLengthMax ? std::numeric_limits<float>::infinity()
                                                    : static_cast<float>(length);
}

}  // namespace

RowFormat::RowFormat(const VectorColumn& column)
    : column_(column),
      encoding_(EncodingOf(column.tier)),
      row_bytes_(kHeadBytes + NumbersSize(encoding_, column.dimension) + kChecksumBytes) {}

size_t RowBytesOf(const VectorColumn& column) {
  return column.tier == RerankTier::kNone ? 0 : RowFormat(column).row_bytes();
}

void RowFormat::Encode(std::span<const float> vector, std::span<uint8_t> out) const {
  const float scale = ScaleOf(encoding_, LargestOf(vector));
  uint8_t* const numbers = out.data() + kHeadBytes;
  for (size_t i = 0; i < vector.size(); ++i) {
    EncodeNumber(encoding_, vector[i] / scale, vector.size(), numbers, i);
  }
  StoreU32(std::bit_cast<uint32_t>(scale), out.data());
  const float length = LengthOf(encoding_, numbers, vector.size());
  StoreU32(std::bit_cast<uint32_t>(length), out.data() + 4);
  const size_t content = row_bytes_ - kChecksumBytes;
  StoreU32(Crc32c(out.first(content)), out.data() + content);
}

void RowFormat::Decode(std::span<const uint8_t> row, std::span<float> vector) const {
  const float scale = LoadFloat(row.data());
  constexpr float kMost = std::numeric_limits<float>::max();
  for (size_t i = 0; i < vector.size(); ++i) {
    // The largest floats may come out a little larger.
    const float number = scale * NumberAt(encoding_, row.data() + kHeadBytes, vector.size(), i);
    vector[i] = std::clamp(number, -kMost, kMost);
  }
}

bool RowFormat::ChecksumIsRight(std::span<const uint8_t> row) const {
  const size_t content = row_bytes_ - kChecksumBytes;
  return Crc32c(row.first(content)) == LoadU32(row.data() + content);
}

RowScorer::RowScorer(const RowFormat& format, std::span<const float> query)
    : format_(format), query_(query), kernels_(RowKernelsOf(format.encoding())) {}

float ClampDistance(VectorMetric metric, double distance) {
  constexpr double kMost = std::numeric_limits<float>::max();
  double least = -kMost;
  double most = kMost;
  if (metric != VectorMetric::kNegativeDot) least = 0;
  if (metric == VectorMetric::kCosine) most = 2;
  return static_cast<float>(std::clamp(distance, least, most));
}

float RowScorer::DistanceOf(const uint8_t* row) const {
  const VectorMetric metric = format_.column().metric;
  const size_t dimension = query_.size();
  const uint8_t* const numbers = row + kHeadBytes;
  const float scale = LoadFloat(row);
  if (metric == VectorMetric::kL2Squared) {
    const float distance = kernels_.squared(query_.data(), numbers, dimension, scale);
    return std::isfinite(distance) ? distance : PreciseDistance(row);
  }
  const float product = kernels_.dot(query_.data(), numbers, dimension);
  if (metric == VectorMetric::kNegativeDot) {
    return std::isfinite(product) ? ClampDistance(metric, -double{scale} * product)
                                  : PreciseDistance(row);
  }
  const float length = LoadFloat(row + 4);
  if (length == 0) return 1;
  if (!std::isfinite(length) || !std::isfinite(product)) return PreciseDistance(row);
  return ClampDistance(metric, 1 - double{product} / length);
}

float RowScorer::PreciseDistance(const uint8_t* row) const {
  const size_t dimension = query_.size();
  const double scale = LoadFloat(row);
  double product = 0;
  double square = 0;
  double apart = 0;
  for (size_t i = 0; i < dimension; ++i) {
    const double number = scale * NumberAt(format_.encoding(), row + kHeadBytes, dimension, i);
    product += query_[i] * number;
    square += number * number;
    apart += (query_[i] - number) * (query_[i] - number);
  }
  const VectorMetric metric = format_.column().metric;
  if (metric == VectorMetric::kL2Squared) return ClampDistance(metric, apart);
  if (metric == VectorMetric::kNegativeDot) return ClampDistance(metric, -product);
  return square > 0 ? ClampDistance(metric, 1 - product / std::sqrt(square)) : 1.0F;
}

}  // namespace infino::vector
