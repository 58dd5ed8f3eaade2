#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "infino/common/byte_range.h"

namespace infino {

/// What a request costs on the way to a store.
struct LinkCost {
  double latency_ms = 0;
  double megabytes_per_s = 0;
};

inline constexpr LinkCost kLocalLink{.latency_ms = 0.05, .megabytes_per_s = 2000};
inline constexpr LinkCost kCloudLink{.latency_ms = 30, .megabytes_per_s = 80};

/// How far ranges are merged.
struct PlanLimits {
  int64_t hole_bytes = 0;     ///< The largest gap that is read along to save a request.
  int64_t request_bytes = 0;  ///< No merging beyond this. A single range may be longer.
};

/// A gap is worth reading if it takes less than a quarter of a request's latency, and a request is
/// long enough once its transfer takes four times that; both within sane bounds.
[[nodiscard]] PlanLimits LimitsFor(const LinkCost& link);

/// Where a wanted range is found: in which request, how far from its start.
struct PlannedRange {
  static constexpr size_t kNoRequest = std::numeric_limits<size_t>::max();

  size_t request = kNoRequest;  ///< kNoRequest for an empty range.
  int64_t offset = 0;
};

struct RangePlan {
  std::vector<ByteRange> requests;   ///< In order of their offsets.
  std::vector<PlannedRange> places;  ///< One for each wanted range, in the order they were given.
};

/// Merges `wanted`, in any order and possibly overlapping, into requests. Pure. Every wanted range
/// lies inside one request, so it can be cut out without a copy.
/// REQUIRES: offsets and lengths are not negative and their sums don't overflow.
[[nodiscard]] RangePlan PlanRanges(std::span<const ByteRange> wanted, const PlanLimits& limits);

}  // namespace infino
