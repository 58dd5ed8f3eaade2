#include "infino/index/vector/vector_column.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace infino::vector {
namespace {

bool EqualsIgnoringCase(std::string_view left, std::string_view lower) {
  return std::ranges::equal(left, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace

std::string_view NameOf(VectorMetric metric) {
  switch (metric) {
    case VectorMetric::kCosine:
      return "cosine";
    case VectorMetric::kL2Squared:
      return "l2sq";
    case VectorMetric::kNegativeDot:
      break;
  }
  return "negdot";
}

std::string_view NameOf(RerankTier tier) {
  switch (tier) {
    case RerankTier::kNone:
      return "none";
    case RerankTier::kFp32:
      return "fp32";
    case RerankTier::kFp16:
      return "fp16";
    case RerankTier::kSq8:
      return "sq8";
    case RerankTier::kSq8Residual:
      break;
  }
  return "sq8_residual";
}

std::optional<VectorMetric> MetricOfName(std::string_view name) {
  for (const VectorMetric metric :
       {VectorMetric::kCosine, VectorMetric::kL2Squared, VectorMetric::kNegativeDot}) {
    if (EqualsIgnoringCase(name, NameOf(metric))) return metric;
  }
  if (EqualsIgnoringCase(name, "l2")) return VectorMetric::kL2Squared;
  if (EqualsIgnoringCase(name, "dot")) return VectorMetric::kNegativeDot;
  return std::nullopt;
}

std::optional<RerankTier> TierOfName(std::string_view name) {
  for (const RerankTier tier : {RerankTier::kNone, RerankTier::kFp32, RerankTier::kFp16,
                                RerankTier::kSq8, RerankTier::kSq8Residual}) {
    if (EqualsIgnoringCase(name, NameOf(tier))) return tier;
  }
  return std::nullopt;
}

}  // namespace infino::vector
