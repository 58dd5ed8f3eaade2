#include "infino/index/vector/query_candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/prepared_query.h"

namespace infino::vector {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// So many are compared first, to learn how near the k-th nearest is.
constexpr uint64_t kFirstCompared = 64;

/// The most that a candidate's distance is by its code.
float HighestOf(const Candidate& candidate) {
  return 2 * candidate.distance - candidate.lowest;
}

bool IsIn(const DocFilter& filter, DocId doc) {
  return (filter.Word(doc / 64) >> (doc % 64) & 1) != 0;
}

}  // namespace

QueryCandidates::QueryCandidates(const PreparedQuery& query, const ClusterMap& map, uint64_t k,
                                 SharedFloor* floor)
    : query_(query), k_(k), floor_(floor), scanner_(query, map), highest_(k), nearest_(k) {}

float QueryCandidates::FloorDistance() const {
  return floor_ == nullptr ? kInfinity : -floor_->score();
}

/// The filter is asked after the scan: few codes are left then, and a block with none that passes
/// is rare, since few rows that pass are not scanned for.
void QueryCandidates::Scan(const CodeBlock& block, uint32_t wanted, const DocFilter* filter) {
  const float limit = std::min(highest_.bound(), FloorDistance());
  uint32_t found = scanner_.Scan(block.bytes, block.number, block.cluster, wanted, limit);
  const uint32_t first = block.number * static_cast<uint32_t>(kBlockCodes);
  for (; found != 0; found &= found - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(found));
    if (filter != nullptr && !IsIn(*filter, block.docs[lane])) continue;
    Candidate candidate = {.distance = scanner_.estimates().distance[lane],
                           .lowest = scanner_.estimates().lowest[lane],
                           .position = first + lane};
    if (std::isnan(candidate.distance) || std::isnan(candidate.lowest)) {
      candidate.distance = -kInfinity;
      candidate.lowest = -kInfinity;
    } else {
      highest_.Offer(HighestOf(candidate));
    }
    candidates_.push_back(candidate);
  }
}

void QueryCandidates::Take(uint32_t position) {
  candidates_.push_back({.distance = -kInfinity, .lowest = -kInfinity, .position = position});
}

void QueryCandidates::EndScan() {
  const float limit = std::min(highest_.bound(), FloorDistance());
  std::erase_if(candidates_,
                [limit](const Candidate& candidate) { return candidate.lowest > limit; });
  const uint64_t first = std::max(k_, kFirstCompared);
  if (candidates_.size() <= first) return;
  std::ranges::nth_element(candidates_, candidates_.begin() + static_cast<ptrdiff_t>(first), {},
                           &Candidate::distance);
}

bool QueryCandidates::MayBeNear(const Candidate& candidate) const {
  return !(candidate.lowest > nearest_.bound()) && !(candidate.lowest > FloorDistance());
}

void QueryCandidates::Offer(const Candidate& candidate, float distance, DocId doc) {
  if (std::isnan(distance)) distance = std::numeric_limits<float>::max();
  ComparedDoc compared = {
      .doc = doc, .distance = distance, .lowest = candidate.lowest, .bounded = distance};
  if (candidate.lowest != -kInfinity) {
    compared.bounded = std::max(candidate.lowest, std::min(distance, HighestOf(candidate)));
  }
  nearest_.Offer(compared);
}

void QueryCandidates::RaiseFloor() {
  if (floor_ != nullptr && std::isfinite(nearest_.bound())) floor_->Raise(-nearest_.bound());
}

}  // namespace infino::vector
