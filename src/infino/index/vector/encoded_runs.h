#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// Rows encoded so far, in one run in memory and any number of runs in scratch files. Single-
/// threaded.
class EncodedRuns final : public EncodedRows {
 public:
  /// `space` outlives it.
  explicit EncodedRuns(const VectorSpace& space);
  ~EncodedRuns() override;

  /// Makes room for the next row; `record` and `row` are to be filled.
  struct Slot {
    std::span<uint8_t> record;
    std::span<uint8_t> row;  ///< Empty without rows.
  };

  [[nodiscard]] Slot Append(PointRef point);

  /// Puts the run in memory into a scratch file, unless it is below 1,024 rows.
  [[nodiscard]] arrow::Status Spill(ScratchSpace& scratch);

  /// Orders everything. Append and Spill may not be called afterwards, the reading functions not
  /// before.
  void Seal();

  [[nodiscard]] int64_t memory_bytes() const;

  [[nodiscard]] int64_t spilled_bytes() const { return spilled_bytes_; }

  [[nodiscard]] uint32_t row_count() const { return row_count_; }

  [[nodiscard]] std::span<const ContentHash> lists() const override { return lists_; }

  [[nodiscard]] std::span<const VectorCluster> clusters() const override { return clusters_; }

  [[nodiscard]] arrow::Status ReadDocs(uint32_t begin, std::span<DocId> docs) override;
  [[nodiscard]] arrow::Status ReadCodes(uint32_t begin, std::span<uint8_t> records) override;
  [[nodiscard]] arrow::Status ReadRows(uint32_t begin, std::span<uint8_t> rows) override;

 private:
  /// One of the two or three numbers or runs of bytes that every row has.
  enum class Part : uint8_t { kDocs, kCodes, kRows };

  struct Run;

  /// Rows of one cluster that stand together in one run.
  struct Stretch {
    size_t run = 0;
    uint32_t begin = 0;  // in the run's order
    uint32_t count = 0;
  };

  [[nodiscard]] size_t KeyOf(PointRef point) const;
  [[nodiscard]] size_t PartBytes(Part part) const;
  void OrderRun();
  void StartRun();
  [[nodiscard]] arrow::Status ReadPart(Part part, uint32_t begin, std::span<uint8_t> out);
  [[nodiscard]] arrow::Status ReadStretch(Part part, const Stretch& stretch,
                                          std::span<uint8_t> out);

  const VectorSpace& space_;
  size_t record_bytes_;
  size_t row_bytes_;
  std::vector<size_t> list_ranks_;      // by the space's number
  std::vector<ContentHash> all_lists_;  // by rank
  uint32_t row_count_ = 0;
  int64_t spilled_bytes_ = 0;
  std::vector<std::unique_ptr<Run>> runs_;

  std::vector<ContentHash> lists_;
  std::vector<VectorCluster> clusters_;
  std::vector<Stretch> stretches_;        // in order of positions
  std::vector<uint32_t> stretch_begins_;  // positions
};

}  // namespace infino::vector
