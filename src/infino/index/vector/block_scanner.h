#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>

#include "infino/common/content_hash.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// The clusters of one index as a query's column sees them: with the column's numbers of lists in
/// place of the index's own.
class ClusterMap {
 public:
  /// kInvalidArgument if the space lacks a list, naming it.
  [[nodiscard]] static arrow::Result<ClusterMap> Make(std::span<const ContentHash> lists,
                                                      std::span<const VectorCluster> clusters,
                                                      const VectorSpace& space);

  [[nodiscard]] std::span<const VectorCluster> clusters() const { return clusters_; }

  /// The cluster that has the position. REQUIRES: there is such a row.
  [[nodiscard]] size_t ClusterOf(uint32_t position) const;

 private:
  std::vector<VectorCluster> clusters_;
};

/// Estimates the distances of one query to the codes of one index, block by block. Single-threaded.
class BlockScanner {
 public:
  /// Both outlive it.
  BlockScanner(const PreparedQuery& query, const ClusterMap& map);

  /// Estimates the codes of block number `number`, whose first one is in `cluster`. Returns those
  /// of `wanted`, the first in the lowest bit, whose lowest distance is not above `limit`; only
  /// their estimates are set. REQUIRES: `wanted` has no code past the last row.
  [[nodiscard]] uint32_t Scan(const uint8_t* block, uint32_t number, size_t cluster,
                              uint32_t wanted, float limit);

  [[nodiscard]] const BlockEstimates& estimates() const { return estimates_; }

 private:
  [[nodiscard]] uint32_t ScanMixed(const uint8_t* block, uint32_t number, size_t cluster,
                                   uint32_t wanted, float limit);

  const PreparedQuery& query_;
  std::span<const VectorCluster> clusters_;
  ScanFunction scan_;
  size_t filled_;  // the cluster whose terms `terms_` has for all codes
  BlockTerms terms_{};
  BlockEstimates estimates_{};
};

}  // namespace infino::vector
