#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/nearest_docs.h"
#include "infino/index/vector/prepared_query.h"

namespace infino::vector {

/// A row that may be among the nearest of a query.
struct Candidate {
  float distance = 0;  ///< By its code.
  float lowest = 0;    ///< What it may be at the least.
  uint32_t position = 0;
};

/// A block of an index.
struct CodeBlock {
  const uint8_t* bytes = nullptr;
  uint32_t number = 0;
  size_t cluster = 0;           ///< Of its first code.
  const DocId* docs = nullptr;  ///< Of its codes.
};

/// What one query has found in one index. Single-threaded.
class QueryCandidates {
 public:
  /// All outlive it; `floor` may be null.
  QueryCandidates(const PreparedQuery& query, const ClusterMap& map, uint64_t k,
                  SharedFloor* floor);

  /// Takes those of `wanted` codes of a block that may be near and whose documents pass `filter`,
  /// which may be null; as BlockScanner::Scan. `docs` are the documents of the block's codes.
  void Scan(const CodeBlock& block, uint32_t wanted, const DocFilter* filter);

  /// Takes a row that is to be compared whatever its code says.
  void Take(uint32_t position);

  /// Leaves out what has turned out to be too far, and puts the most promising candidates first.
  void EndScan();

  [[nodiscard]] std::span<const Candidate> candidates() const { return candidates_; }

  /// Whether the candidate may still be among the nearest.
  [[nodiscard]] bool MayBeNear(const Candidate& candidate) const;

  /// The distance of a candidate's document, which has been computed.
  void Offer(const Candidate& candidate, float distance, DocId doc);

  /// Tells other searches how far the k-th nearest is.
  void RaiseFloor();

  [[nodiscard]] const PreparedQuery& query() const { return query_; }

  /// As NearestDocs::Finish.
  [[nodiscard]] std::span<const ComparedDoc> Finish() { return nearest_.Finish(FloorDistance()); }

 private:
  [[nodiscard]] float FloorDistance() const;

  const PreparedQuery& query_;
  uint64_t k_;
  SharedFloor* floor_;
  BlockScanner scanner_;
  SmallestK highest_;  // distances that k rows are at most away
  std::vector<Candidate> candidates_;
  NearestDocs nearest_;
};

}  // namespace infino::vector
