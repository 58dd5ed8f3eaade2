#include "infino/storage/range_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "infino/common/byte_range.h"

namespace infino {

PlanLimits LimitsFor(const LinkCost& link) {
  constexpr double kBytesPerMegabyte = 1e6;
  constexpr double kMsPerSecond = 1e3;
  constexpr double kHoleShare = 0.25;
  constexpr double kRequestShare = 4;
  constexpr double kHoleMin = 4 << 10;
  constexpr double kHoleMax = 1 << 20;
  constexpr double kRequestMin = 1 << 20;
  constexpr double kRequestMax = 16 << 20;
  const double bytes_in_a_latency =
      link.latency_ms / kMsPerSecond * link.megabytes_per_s * kBytesPerMegabyte;
  const double hole = std::clamp(bytes_in_a_latency * kHoleShare, kHoleMin, kHoleMax);
  const double request = std::clamp(bytes_in_a_latency * kRequestShare, kRequestMin, kRequestMax);
  return PlanLimits{.hole_bytes = static_cast<int64_t>(hole),
                    .request_bytes = static_cast<int64_t>(request)};
}

RangePlan PlanRanges(std::span<const ByteRange> wanted, const PlanLimits& limits) {
  RangePlan plan;
  plan.places.resize(wanted.size());
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Of ranges that start together the longest comes first, so that it takes in the others.
  std::ranges::sort(order, {},
                    [&](size_t i) { return std::tuple(wanted[i].offset, -wanted[i].length, i); });
  for (const size_t i : order) {
    const ByteRange& range = wanted[i];
    if (range.length == 0) continue;
    if (!plan.requests.empty()) {
      ByteRange& last = plan.requests.back();
      const int64_t end = std::max(last.end(), range.end());
      const bool is_inside = end == last.end();
      const bool is_near = range.offset - last.end() <= limits.hole_bytes &&
                           end - last.offset <= limits.request_bytes;
      if (is_inside || is_near) {
        last.length = end - last.offset;
        plan.places[i] = {.request = plan.requests.size() - 1,
                          .offset = range.offset - last.offset};
        continue;
      }
    }
    plan.places[i] = {.request = plan.requests.size(), .offset = 0};
    plan.requests.push_back(range);
  }
  return plan;
}

}  // namespace infino
