#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/bm25.h"

namespace infino::text {

/// A document as far as its score for one term goes: how often the term occurs in it, and how many
/// tokens it has.
struct Impact {
  uint32_t frequency = 0;
  uint32_t length = 0;

  friend bool operator==(const Impact&, const Impact&) = default;
};

/// Those of a set of postings that are best under some k1, b and average length; ascending in both
/// frequency and length.
///
/// A contribution grows with frequency / (A + B * length) for some A, B >= 0. In the plane of
/// length and frequency that is the slope of the line from (-A/B, 0), so the best postings are the
/// corners of the upper left side of the convex hull, from the one with the steepest line from the
/// origin to the shortest of those with the highest frequency. These are few, usually one to three.
using Impacts = std::vector<Impact>;

/// Collects postings and reduces them to their impacts. Costs a comparison per posting.
class ImpactCollector {
 public:
  ImpactCollector();

  /// REQUIRES: 1 <= frequency, length <= kDocumentLengthMax.
  void Add(Impact posting) {
    if (posting.frequency < kSmall) {
      uint32_t& shortest = shortest_[posting.frequency];
      if (posting.length < shortest) shortest = posting.length;
    } else {
      large_.push_back(posting);
    }
  }

  void Add(std::span<const Impact> postings) {
    for (const Impact& posting : postings) Add(posting);
  }

  /// The impacts of what was added, and starts anew. At most kImpactsMax: where there are more, two
  /// neighbours become one that is at least as good as either.
  [[nodiscard]] std::span<const Impact> Finish();

 private:
  static constexpr uint32_t kSmall = 16;

  std::array<uint32_t, kSmall> shortest_;  // by frequency; the maximum if there is none
  std::vector<Impact> large_;
  Impacts impacts_;
};

/// The highest contribution that any posting behind `impacts` can make. 0 for no impacts.
[[nodiscard]] double MaxContribution(std::span<const Impact> impacts, const Bm25& bm25, double idf);

/// A count, then per impact the differences of frequency and of length to the one before.
void WriteImpacts(std::span<const Impact> impacts, ByteWriter& out);

/// Reads what WriteImpacts wrote into `impacts`, which is cleared first. Makes `in` fail unless
/// there is at least one and at most kImpactsMax, ascending, each possible.
void ReadImpacts(BlockReader& in, Impacts& impacts);

}  // namespace infino::text
