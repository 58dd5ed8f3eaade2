#include "infino/index/vector/block_scanner.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

constexpr size_t kNoCluster = std::numeric_limits<size_t>::max();

/// Bits [begin, end). REQUIRES: begin < end <= 32.
uint32_t BitsBetween(uint32_t begin, uint32_t end) {
  return (~uint32_t{0} << begin) & (~uint32_t{0} >> (32 - end));
}

}  // namespace

arrow::Result<ClusterMap> ClusterMap::Make(std::span<const ContentHash> lists,
                                           std::span<const VectorCluster> clusters,
                                           const VectorSpace& space) {
  std::vector<uint8_t> numbers;
  for (const ContentHash& id : lists) {
    const std::optional<size_t> number = space.FindList(id);
    if (!number.has_value()) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "vector index: its list of reference points is missing: list=" + id.ToHex());
    }
    numbers.push_back(static_cast<uint8_t>(*number));
  }
  ClusterMap map;
  map.clusters_.assign(clusters.begin(), clusters.end());
  for (VectorCluster& cluster : map.clusters_) {
    cluster.point.list = numbers[cluster.point.list];
    if (cluster.point.place >= space.list(cluster.point.list).size()) {
      return MakeError(ErrorKind::kCorrupt,
                       "vector index: a cluster has a reference point that its "
                       "list lacks: place=" +
                           std::to_string(cluster.point.place));
    }
  }
  return map;
}

size_t ClusterMap::ClusterOf(uint32_t position) const {
  const auto after = std::ranges::upper_bound(clusters_, position, {}, &VectorCluster::begin);
  return static_cast<size_t>(after - clusters_.begin()) - 1;
}

BlockScanner::BlockScanner(const PreparedQuery& query, const ClusterMap& map)
    : query_(query), clusters_(map.clusters()), scan_(BestScanFunction()), filled_(kNoCluster) {}

uint32_t BlockScanner::Scan(const uint8_t* block, uint32_t number, size_t cluster, uint32_t wanted,
                            float limit) {
  const VectorCluster& first = clusters_[cluster];
  if (size_t{number} * kBlockCodes + kBlockCodes > first.end) {
    return ScanMixed(block, number, cluster, wanted, limit);
  }
  const PreparedQuery::List& list = query_.list(first.point.list);
  if (filled_ != cluster) {
    terms_.base.fill(list.base[first.point.place]);
    terms_.spread.fill(list.spread[first.point.place]);
    filled_ = cluster;
  }
  return scan_(block, list.table, list.terms, terms_, limit, estimates_) & wanted;
}

/// One pass for each list of reference points that codes of the block have.
uint32_t BlockScanner::ScanMixed(const uint8_t* block, uint32_t number, size_t cluster,
                                 uint32_t wanted, float limit) {
  filled_ = kNoCluster;
  const uint32_t start = number * static_cast<uint32_t>(kBlockCodes);
  BlockEstimates estimates;
  uint32_t passing = 0;
  while (cluster < clusters_.size() && clusters_[cluster].begin < start + kBlockCodes) {
    const size_t list_number = clusters_[cluster].point.list;
    const PreparedQuery::List& list = query_.list(list_number);
    uint32_t lanes = 0;
    for (; cluster < clusters_.size() && clusters_[cluster].point.list == list_number &&
           clusters_[cluster].begin < start + kBlockCodes;
         ++cluster) {
      const VectorCluster& here = clusters_[cluster];
      const uint32_t begin = std::max(here.begin, start) - start;
      const uint32_t end = std::min(here.end - start, static_cast<uint32_t>(kBlockCodes));
      lanes |= BitsBetween(begin, end);
      std::fill(terms_.base.begin() + begin, terms_.base.begin() + end,
                list.base[here.point.place]);
      std::fill(terms_.spread.begin() + begin, terms_.spread.begin() + end,
                list.spread[here.point.place]);
    }
    const uint32_t found =
        scan_(block, list.table, list.terms, terms_, limit, estimates) & lanes & wanted;
    passing |= found;
    for (uint32_t left = found; left != 0; left &= left - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(left));
      estimates_.distance[lane] = estimates.distance[lane];
      estimates_.lowest[lane] = estimates.lowest[lane];
    }
  }
  return passing;
}

}  // namespace infino::vector
