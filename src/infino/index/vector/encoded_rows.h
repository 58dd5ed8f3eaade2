#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

/// Encoded vectors in the order in which an index keeps them: what VectorIndexWriter writes,
/// wherever they come from. Positions are read in any order, mostly ascending and many at a time.
/// Single-threaded; may block.
class EncodedRows {
 public:
  EncodedRows() = default;
  EncodedRows(const EncodedRows&) = delete;
  EncodedRows& operator=(const EncodedRows&) = delete;
  virtual ~EncodedRows() = default;

  /// As VectorIndexReader has them.
  [[nodiscard]] virtual std::span<const ContentHash> lists() const = 0;
  [[nodiscard]] virtual std::span<const VectorCluster> clusters() const = 0;

  /// The documents at positions from `begin` on, as many as fit `docs`.
  [[nodiscard]] virtual arrow::Status ReadDocs(uint32_t begin, std::span<DocId> docs) = 0;

  /// The code records at positions from `begin` on, as many as fit.
  [[nodiscard]] virtual arrow::Status ReadCodes(uint32_t begin, std::span<uint8_t> records) = 0;

  /// The same for rows. REQUIRES: the tier keeps some.
  [[nodiscard]] virtual arrow::Status ReadRows(uint32_t begin, std::span<uint8_t> rows) = 0;
};

}  // namespace infino::vector
