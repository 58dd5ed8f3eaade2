#include "infino/index/text/impacts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

/// Whether `middle` lies on or below the line from `left` to `right`. All coordinates are below
/// 2^30, so the products fit.
bool IsBelow(const Impact& left, const Impact& middle, const Impact& right) {
  const auto rise = [](const Impact& from, const Impact& to) {
    return int64_t{to.frequency} - int64_t{from.frequency};
  };
  const auto run = [](const Impact& from, const Impact& to) {
    return int64_t{to.length} - int64_t{from.length};
  };
  return rise(left, middle) * run(left, right) <= rise(left, right) * run(left, middle);
}

/// Appends a posting that has a higher frequency than all before it.
void AppendToHull(const Impact& posting, Impacts& hull) {
  while (!hull.empty() && hull.back().length >= posting.length) hull.pop_back();
  while (!hull.empty()) {
    const Impact left = hull.size() > 1 ? hull[hull.size() - 2] : Impact{};
    if (!IsBelow(left, hull.back(), posting)) break;
    hull.pop_back();
  }
  hull.push_back(posting);
}

/// Makes at most kImpactsMax of more, keeping the ends of the range where bounds matter most.
void Thin(Impacts& hull) {
  while (hull.size() > kImpactsMax) {
    Impacts merged;
    merged.reserve(hull.size() / 2 + 1);
    size_t i = 0;
    for (; i + 1 < hull.size(); i += 2) {
      merged.push_back({.frequency = hull[i + 1].frequency, .length = hull[i].length});
    }
    if (i < hull.size()) merged.push_back(hull[i]);
    hull = std::move(merged);
  }
}

}  // namespace

ImpactCollector::ImpactCollector() {
  shortest_.fill(kNone);
}

std::span<const Impact> ImpactCollector::Finish() {
  impacts_.clear();
  for (uint32_t frequency = 0; frequency < kSmall; ++frequency) {
    if (shortest_[frequency] == kNone) continue;
    AppendToHull({.frequency = frequency, .length = shortest_[frequency]}, impacts_);
  }
  shortest_.fill(kNone);
  if (!large_.empty()) {
    std::ranges::sort(large_, [](const Impact& left, const Impact& right) {
      return left.frequency != right.frequency ? left.frequency < right.frequency
                                               : left.length < right.length;
    });
    uint32_t frequency = 0;
    for (const Impact& posting : large_) {
      if (posting.frequency == frequency) continue;  // a longer document of the same frequency
      frequency = posting.frequency;
      AppendToHull(posting, impacts_);
    }
    large_.clear();
  }
  Thin(impacts_);
  return impacts_;
}

double MaxContribution(std::span<const Impact> impacts, const Bm25& bm25, double idf) {
  double best = 0;
  for (const Impact& impact : impacts) {
    best = std::max(best, bm25.Contribution(idf, impact.frequency, impact.length));
  }
  return best;
}

void WriteImpacts(std::span<const Impact> impacts, ByteWriter& out) {
  out.WriteVarint(impacts.size());
  Impact last;
  for (const Impact& impact : impacts) {
    out.WriteVarint(impact.frequency - last.frequency);
    out.WriteVarint(impact.length - last.length);
    last = impact;
  }
}

void ReadImpacts(BlockReader& in, Impacts& impacts) {
  constexpr auto kMax = static_cast<uint32_t>(kDocumentLengthMax);
  impacts.clear();
  const uint64_t count = in.Varint(kImpactsMax);
  if (count == 0) in.Fail();
  Impact last;
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t frequency = in.Varint32(kMax - last.frequency);
    const uint32_t length = in.Varint32(kMax - last.length);
    last.frequency += frequency;
    last.length += length;
    if (frequency == 0 || length == 0) in.Fail();
    impacts.push_back(last);
  }
}

}  // namespace infino::text
