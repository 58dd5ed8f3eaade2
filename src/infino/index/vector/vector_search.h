#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/index/doc_filter.h"
#include "infino/index/index_search.h"
#include "infino/index/shared_floor.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/nearest_docs.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

struct VectorSearchOptions {
  /// How many documents each query wants. Any number.
  uint64_t k = 10;

  /// Compares every row that passes with the stored vectors, whatever the codes say.
  bool exact = false;

  /// Up to so many rows that pass are compared without a look at their codes, and so are those that
  /// are a small share of all.
  uint64_t few_rows_max = 512;

  /// Which clusters are scanned, ascending; nothing: all. ChooseClusters chooses.
  std::optional<std::vector<uint32_t>> clusters = std::nullopt;

  /// What is known of this and other indexes, and where new knowledge goes. May be null.
  VectorCache* cache = nullptr;

  /// With a cache: codes of at most so many bytes in all are read whole and kept, in place of the
  /// chosen clusters' alone, and so are rows, in place of the candidates' alone.
  int64_t whole_bytes_max = 0;

  /// One a query, shared with the searches of other indexes: the negated bound of NearestDocs so
  /// far. Empty: none.
  std::span<SharedFloor* const> floors = {};
};

/// The nearest documents of one vector index to one or several queries.
///
/// Rounds: (1) documents and codes, of the chosen clusters or all; (2) the rows of the candidates:
/// those whose distance, by the error that their codes have, may be among the k least. With few
/// documents passing the filter round (1) reads documents only, and all that pass are candidates.
/// The tier kNone has no round (2): its distances are estimates. What the cache has is not read.
///
/// A distance depends on vector and query alone (with kNone also on the vector's reference point);
/// whether a near document is found is a matter of the queries' confidence, not of which of several
/// indexes is searched first. If as many documents pass in the scanned clusters, k are found.
/// Single-threaded. Bytes that break the format are kCorrupt.
class VectorSearch final : public IndexSearch {
  class Impl;

 public:
  /// All but the options outlive the search; `filter` may be null: every document passes.
  /// kInvalidArgument if the space is of another column or lacks a list of the index, and for a
  /// cluster that does not exist.
  [[nodiscard]] static arrow::Result<std::unique_ptr<VectorSearch>> Make(
      const VectorIndexReader& index, const VectorSpace& space,
      std::span<const PreparedQuery> queries, const DocFilter* filter,
      const VectorSearchOptions& options);

  ~VectorSearch() override;

  /// Works as far as it gets without further bytes. To be called before NextReads.
  [[nodiscard]] arrow::Status Resume();

  [[nodiscard]] std::vector<ByteRange> NextReads() override;
  [[nodiscard]] arrow::Status Feed(Buffers bytes) override;

  [[nodiscard]] bool done() const;

  /// What may be among the k nearest of a query, of this and all indexes that share its floor, in
  /// no order. REQUIRES: done().
  [[nodiscard]] std::span<const ComparedDoc> Compared(size_t query) const;

  /// The nearest documents of this index alone, nearest first, ties by lower DocId. The score is
  /// the negated distance. REQUIRES: done(), and no floor was shared.
  [[nodiscard]] std::vector<ScoredDoc> TopDocs(size_t query) const;

  /// How many rows were compared with their stored vectors, over all queries.
  [[nodiscard]] int64_t reranked_count() const;

  /// For Make, which alone can name an Impl.
  explicit VectorSearch(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace infino::vector
