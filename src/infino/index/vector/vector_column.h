#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace infino::vector {

/// What a distance is. Values are stored.
enum class VectorMetric : uint8_t {
  kCosine = 1,       ///< 1 - cosine; 1 if one of the two is zero.
  kL2Squared = 2,    ///< The squared Euclidean distance.
  kNegativeDot = 3,  ///< The inner product, negated.
};

/// How precisely a vector is kept beside its code. Values are stored.
enum class RerankTier : uint8_t {
  kNone = 0,         ///< Not at all: distances are estimates.
  kFp32 = 1,         ///< As it came.
  kFp16 = 2,         ///< 2 bytes a dimension.
  kSq8 = 3,          ///< 1 byte a dimension.
  kSq8Residual = 4,  ///< 1 byte a dimension and 1 byte for its rounding error.
};

inline constexpr size_t kDimensionMin = 16;
inline constexpr size_t kDimensionMax = 4096;

/// What a vector column is, the same in all files of a table.
struct VectorColumn {
  uint32_t dimension = 0;
  VectorMetric metric = VectorMetric::kCosine;
  RerankTier tier = RerankTier::kSq8Residual;
  uint64_t rotation_seed = 0;  ///< Drawn when the column is made.

  friend bool operator==(const VectorColumn&, const VectorColumn&) = default;
};

/// "cosine", "l2sq", "negdot"; and "none", "fp32", "fp16", "sq8", "sq8_residual".
[[nodiscard]] std::string_view NameOf(VectorMetric metric);
[[nodiscard]] std::string_view NameOf(RerankTier tier);

/// The metric or tier of that name. "l2" and "dot" are names as well. Case does not count.
[[nodiscard]] std::optional<VectorMetric> MetricOfName(std::string_view name);
[[nodiscard]] std::optional<RerankTier> TierOfName(std::string_view name);

}  // namespace infino::vector
