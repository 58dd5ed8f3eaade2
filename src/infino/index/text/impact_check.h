#pragma once

#include <cstdint>
#include <span>

#include "infino/index/text/impacts.h"

namespace infino::text {

/// Whether stored impacts are what they should be of the postings that are shown to it: none is
/// better under any BM25 (it lies under the line through the origin and the impacts), and no impact
/// is better than the postings. An independent opinion on ImpactCollector. Single-threaded.
class ImpactCheck {
 public:
  /// REQUIRES: as ReadImpacts gives them.
  explicit ImpactCheck(std::span<const Impact> impacts)
      : impacts_(impacts.begin(), impacts.end()) {}

  /// Whether the impacts bound the posting.
  [[nodiscard]] bool Add(Impact posting);

  /// Whether all impacts are there for a reason: each is a posting and a corner of the hull; or,
  /// where there are so many that neighbours may have been joined, made of two postings.
  [[nodiscard]] bool AreAttained() const;

 private:
  Impacts impacts_;
  uint32_t attained_ = 0;     // a bit per impact, here and below
  uint32_t frequencies_ = 0;  // whose frequency a posting has
  uint32_t lengths_ = 0;
};

}  // namespace infino::text
