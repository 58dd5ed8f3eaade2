#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/index_search.h"
#include "infino/index/vector/row_access.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

/// Reads vectors back from an index, as its tier keeps them.
///
/// Rounds: (1) the documents, unless the cache has them; (2) the rows. Single-threaded. Bytes that
/// break the format are kCorrupt.
class VectorFetch final : public IndexSearch {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `index` and `cache`, which may be null, outlive it. kInvalidArgument if the tier keeps no
  /// vectors, and for a document that does not exist.
  [[nodiscard]] static arrow::Result<std::unique_ptr<VectorFetch>> Make(
      const VectorIndexReader& index, std::vector<DocId> docs, VectorCache* cache);

  /// For Make.
  VectorFetch(Private tag, const VectorIndexReader& index, std::vector<DocId> docs);

  [[nodiscard]] std::vector<ByteRange> NextReads() override { return reads_; }

  [[nodiscard]] arrow::Status Feed(Buffers bytes) override;

  [[nodiscard]] bool done() const { return done_; }

  /// The documents' vectors one after the other, in the order asked for. REQUIRES: done().
  [[nodiscard]] std::span<const float> vectors() const { return vectors_; }

 private:
  arrow::Status PlanRows(const StoredCodes& codes);
  arrow::Status Decode();

  const VectorIndexReader& index_;
  std::vector<DocId> docs_;
  std::vector<uint32_t> positions_;  // of docs_
  bool have_positions_ = false;
  bool done_ = false;
  std::vector<ByteRange> reads_;
  RowAccess rows_;
  std::vector<float> vectors_;
};

}  // namespace infino::vector
