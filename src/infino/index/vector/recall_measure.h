#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// Measures, while an index is written, how far from a query its nearest rows stand when rows are
/// ordered by their reference points' distance: some of the rows serve as queries, without
/// themselves. A function of the encoded rows, so it is the same whoever writes them.
/// Single-threaded.
class RecallMeasure {
 public:
  /// Draws the queries and reads them. All outlive it.
  [[nodiscard]] static arrow::Result<std::unique_ptr<RecallMeasure>> Make(const VectorSpace& space,
                                                                          const ClusterMap& map,
                                                                          EncodedRows& rows);

  RecallMeasure(const VectorSpace& space, const ClusterMap& map, uint32_t row_count);

  /// Takes the content of every block in turn.
  void TakeBlock(std::span<const uint8_t> block, uint32_t number);

  /// Takes every row in turn, those at positions from `begin` on. Not called without rows.
  void TakeRows(std::span<const uint8_t> rows, uint32_t begin);

  /// The curve: 1 where too few rows were there to tell.
  [[nodiscard]] RecallCurve Finish();

 private:
  struct Near {
    float distance = 0;
    uint32_t position = 0;
  };

  struct Query {
    Query(PreparedQuery prepared_query, const ClusterMap& map, uint32_t own_position)
        : prepared(std::move(prepared_query)), scanner(prepared, map), own(own_position) {}

    PreparedQuery prepared;
    BlockScanner scanner;
    uint32_t own;  // its position
    float limit = 0;
    std::vector<Near> nearest;
    size_t next = 0;  // of `nearest`, in order of positions
  };

  [[nodiscard]] arrow::Status ReadQueries(EncodedRows& rows);
  [[nodiscard]] arrow::Result<std::vector<float>> ReadQuery(EncodedRows& rows, uint32_t position);
  void StartRows();

  const VectorSpace& space_;
  const ClusterMap& map_;
  uint32_t row_count_;
  size_t cluster_ = 0;
  bool rows_started_ = false;
  std::vector<std::unique_ptr<Query>> queries_;
};

}  // namespace infino::vector
