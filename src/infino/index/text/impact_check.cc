#include "infino/index/text/impact_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "infino/index/text/impacts.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

static_assert(kImpactsMax <= 32, "ImpactCheck has a bit per impact");

/// Up to here no neighbours were joined: that happens to more than kImpactsMax, and leaves more
/// than half.
constexpr size_t kNeverJoined = kImpactsMax / 2;

/// Whether `middle` lies on or under the line from `left` to `right`. Coordinates are below 2^30.
bool IsUnder(const Impact& left, const Impact& middle, const Impact& right) {
  const int64_t run = int64_t{right.length} - left.length;
  const int64_t rise = int64_t{right.frequency} - left.frequency;
  return (int64_t{middle.frequency} - left.frequency) * run <=
         rise * (int64_t{middle.length} - left.length);
}

}  // namespace

bool ImpactCheck::Add(Impact posting) {
  for (size_t i = 0; i < impacts_.size(); ++i) {
    const uint32_t bit = uint32_t{1} << i;
    if (impacts_[i].frequency == posting.frequency) frequencies_ |= bit;
    if (impacts_[i].length == posting.length) lengths_ |= bit;
    if (impacts_[i] == posting) attained_ |= bit;
  }
  const auto right = std::upper_bound(
      impacts_.begin(), impacts_.end(), posting.length,
      [](uint32_t length, const Impact& impact) { return length < impact.length; });
  if (right == impacts_.end()) return posting.frequency <= impacts_.back().frequency;
  const Impact left = right == impacts_.begin() ? Impact{} : *(right - 1);
  return IsUnder(left, posting, *right);
}

bool ImpactCheck::AreAttained() const {
  const auto all = static_cast<uint32_t>((uint64_t{1} << impacts_.size()) - 1);
  if (impacts_.size() > kNeverJoined) return frequencies_ == all && lengths_ == all;
  for (size_t i = 0; i + 1 < impacts_.size(); ++i) {
    const Impact left = i == 0 ? Impact{} : impacts_[i - 1];
    if (IsUnder(left, impacts_[i], impacts_[i + 1])) return false;
  }
  return attained_ == all;
}

}  // namespace infino::text
