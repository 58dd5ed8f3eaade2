#include "infino/index/vector/sign_code.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/bytes.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/small_floats.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_math.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

/// Less than any distance of vectors whose numbers are all below kLargestCoded.
constexpr float kBelowAll = -1e36F;

constexpr double kSpreadSteps = 255;

void StoreFactors(float offset, uint16_t scale, uint8_t spread, std::span<uint8_t> out) {
  const auto bits = std::bit_cast<uint32_t>(offset);
  for (size_t i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(bits >> (8 * i));
  out[4] = static_cast<uint8_t>(scale);
  out[5] = static_cast<uint8_t>(scale >> 8U);
  out[6] = spread;
}

/// The sum of `numbers` under the signs of `signs`.
double SumUnderSigns(std::span<const float> signs, std::span<const float> numbers) {
  double positive = 0;
  double negative = 0;
  for (size_t i = 0; i < signs.size(); ++i) {
    const double number = numbers[i];
    positive += signs[i] >= 0 ? number : 0;
    negative += signs[i] >= 0 ? 0 : number;
  }
  return positive - negative;
}

}  // namespace

double SlopeOf(VectorMetric metric) {
  return metric == VectorMetric::kL2Squared ? -2 : -1;
}

double SpreadUnit(size_t dimension) {
  const auto count = static_cast<double>(dimension);
  return std::sqrt(count / (count - 1)) / kSpreadSteps;
}

SignEncoder::SignEncoder(const VectorSpace& space)
    : space_(space), difference_(space.column().dimension), rotated_(space.column().dimension) {}

/// With o the unit vector of the rotated difference, s its signs over the root of the dimension and
/// a = <s, o>: <o, q> is estimated by <s, q> / a, whose error has the size of
/// sqrt(1 - a^2) / a / sqrt(dimension - 1) times that of q. The part of q that is the reference
/// point's is known here, and goes into the offset.
void SignEncoder::Encode(std::span<const float> row, PointRef point, std::span<uint8_t> record) {
  const size_t dimension = row.size();
  const VectorSpace::List& list = space_.geometry(point.list);
  const size_t begin = size_t{point.place} * dimension;
  const auto centred = std::span<const float>(list.centred).subspan(begin, dimension);
  const auto factors = record.subspan(CodeBytes(dimension));
  std::ranges::fill(record, uint8_t{0});
  if (!IsCodable(row)) {
    StoreFactors(kBelowAll, 0, 0, factors);
    return;
  }
  for (size_t i = 0; i < dimension; ++i) {
    difference_[i] = (row[i] - list.centre[i]) - centred[i];
  }
  space_.rotation().Apply(difference_, rotated_);
  double size_sum = 0;
  for (size_t i = 0; i < dimension; ++i) {
    size_sum += std::abs(rotated_[i]);
    if (rotated_[i] >= 0) record[i / 8] |= static_cast<uint8_t>(1U << (i % 8));
  }
  const double square = PreciseDot(rotated_, rotated_);
  const uint16_t scale = FloatToBrief(size_sum > 0 ? static_cast<float>(square / size_sum) : 0.0F);
  const double shift =
      BriefToFloat(scale) *
      SumUnderSigns(rotated_, std::span<const float>(list.rotated).subspan(begin, dimension));
  double offset = 0;
  if (space_.column().metric == VectorMetric::kL2Squared) {
    offset = square + 2 * shift;
  } else {
    const auto values = space_.list(point.list).point(point.place);
    offset = shift - PreciseDot(difference_, values);
  }
  const double aligned =
      square > 0 ? size_sum * size_sum / (square * static_cast<double>(dimension)) : 1;
  const double spread = std::ceil(kSpreadSteps * std::sqrt(std::max(0.0, 1 - aligned)));
  StoreFactors(static_cast<float>(offset), scale, static_cast<uint8_t>(std::min(spread, 255.0)),
               factors);
}

void PackBlock(std::span<const uint8_t> records, size_t dimension, std::span<uint8_t> block) {
  std::ranges::fill(block, uint8_t{0});
  const size_t record_bytes = CodeRecordBytes(dimension);
  const size_t code_bytes = CodeBytes(dimension);
  const size_t count = records.size() / record_bytes;
  uint8_t* const offsets = block.data() + kBlockCodes * code_bytes;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const record = records.data() + i * record_bytes;
    for (size_t group = 0; group < code_bytes; ++group) {
      block[group * kBlockCodes + i] = record[group];
    }
    const uint8_t* const factors = record + code_bytes;
    std::copy_n(factors, 4, offsets + 4 * i);
    std::copy_n(factors + 4, 2, offsets + 4 * kBlockCodes + 2 * i);
    offsets[6 * kBlockCodes + i] = factors[6];
  }
}

void UnpackRecord(std::span<const uint8_t> block, size_t ordinal, size_t dimension,
                  std::span<uint8_t> record) {
  const size_t code_bytes = CodeBytes(dimension);
  for (size_t group = 0; group < code_bytes; ++group) {
    record[group] = block[group * kBlockCodes + ordinal];
  }
  const uint8_t* const offsets = block.data() + kBlockCodes * code_bytes;
  uint8_t* const factors = record.data() + code_bytes;
  std::copy_n(offsets + 4 * ordinal, 4, factors);
  std::copy_n(offsets + 4 * kBlockCodes + 2 * ordinal, 2, factors + 4);
  factors[6] = offsets[6 * kBlockCodes + ordinal];
}

void DecodeSigns(std::span<const uint8_t> record, const VectorSpace& space, PointRef point,
                 std::span<float> vector) {
  const size_t dimension = vector.size();
  const uint8_t* const factors = record.data() + CodeBytes(dimension);
  const double sine = factors[6] / kSpreadSteps;
  const auto size = static_cast<float>(BriefToFloat(LoadU16(factors + 4)) *
                                       std::sqrt(std::max(0.0, 1 - sine * sine)));
  for (size_t i = 0; i < dimension; ++i) {
    vector[i] = (record[i / 8] >> (i % 8) & 1) != 0 ? size : -size;
  }
  space.rotation().ApplyInverse(vector, vector);
  const auto values = space.list(point.list).point(point.place);
  for (size_t i = 0; i < dimension; ++i) vector[i] += values[i];
}

}  // namespace infino::vector
