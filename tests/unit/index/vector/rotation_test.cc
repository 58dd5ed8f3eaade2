#include "infino/index/vector/rotation.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "support/seed.h"

namespace infino::vector {
namespace {

constexpr size_t kDimensions[] = {2,   3,   16,  17,  31,   100,  255,  256, 257,
                                  300, 384, 511, 768, 1000, 1536, 2047, 4096};

std::vector<float> Rotated(const Rotation& rotation, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  rotation.Apply(in, out);
  return out;
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

std::vector<float> DrawMany(Random& random, size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.Unit() * 2 - 1);
  return numbers;
}

TEST(Rotation, KeepsLengthsAndAngles) {
  Random random(TestSeed());
  for (const size_t dimension : kDimensions) {
    const Rotation rotation(dimension, random.Next());
    const std::vector<float> a = DrawMany(random, dimension);
    const std::vector<float> b = DrawMany(random, dimension);
    const double size = std::sqrt(Dot(a, a) * Dot(b, b));
    EXPECT_NEAR(Dot(Rotated(rotation, a), Rotated(rotation, b)), Dot(a, b), 2e-6 * size)
        << dimension;
    EXPECT_NEAR(Dot(Rotated(rotation, a), Rotated(rotation, a)), Dot(a, a), 2e-6 * Dot(a, a));
  }
}

TEST(Rotation, ATurnedAxisIsSpreadOverAllCoordinates) {
  Random random(TestSeed() + 1);
  for (const size_t dimension : kDimensions) {
    if (dimension < 100) continue;
    const Rotation rotation(dimension, random.Next());
    for (const size_t axis : {size_t{0}, dimension / 2, dimension / 3, dimension - 1}) {
      std::vector<float> in(dimension);
      in[axis] = 1;
      double fourth = 0;
      double sum_of_sizes = 0;
      for (const float number : Rotated(rotation, in)) {
        ASSERT_LT(std::abs(number), 7 / std::sqrt(static_cast<double>(dimension)));
        fourth += std::pow(number, 4);
        sum_of_sizes += std::abs(number);
      }
      // A vector on a random sphere has a kurtosis of about 3 and a mean size of about 0.8.
      const auto count = static_cast<double>(dimension);
      EXPECT_LT(fourth * count, 6) << dimension << " axis " << axis;
      EXPECT_NEAR(sum_of_sizes / std::sqrt(count), std::sqrt(2 / 3.14159), 0.1) << dimension;
    }
  }
}

TEST(Rotation, EveryCoordinateGetsItsShareOfEveryAxis) {
  Random random(TestSeed() + 2);
  for (const size_t dimension : {size_t{17}, size_t{64}, size_t{100}, size_t{257}, size_t{511}}) {
    // The mean over many rotations of an entry's square is 1 / dimension.
    std::vector<double> squares(dimension);
    constexpr int kRotations = 400;
    for (int i = 0; i < kRotations; ++i) {
      const Rotation rotation(dimension, random.Next());
      std::vector<float> in(dimension);
      in[static_cast<size_t>(i) % 3 * (dimension - 1) / 2] = 1;
      const std::vector<float> out = Rotated(rotation, in);
      for (size_t d = 0; d < dimension; ++d) squares[d] += double{out[d]} * out[d];
    }
    for (size_t d = 0; d < dimension; ++d) {
      EXPECT_NEAR(squares[d] / kRotations * static_cast<double>(dimension), 1, 0.6)
          << dimension << " coordinate " << d;
    }
  }
}

TEST(Rotation, ASeedGivesOneRotation) {
  Random random(TestSeed() + 3);
  const std::vector<float> in = DrawMany(random, 384);
  EXPECT_EQ(Rotated(Rotation(384, 7), in), Rotated(Rotation(384, 7), in));
  EXPECT_NE(Rotated(Rotation(384, 7), in), Rotated(Rotation(384, 8), in));
  std::vector<float> in_place = in;
  Rotation(384, 7).Apply(in_place, in_place);
  EXPECT_EQ(in_place, Rotated(Rotation(384, 7), in));
}

}  // namespace
}  // namespace infino::vector
