#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"

namespace infino {

/// Which `_id` each row of a superfile has: strictly ascending, kept as runs of consecutive ids.
/// Immutable and thread-safe.
///
/// Encoded, runs are deltas to the run before, in blocks that start afresh; a lookup searches the
/// blocks and then walks through one.
class IdMap {
 public:
  /// Reads what IdMapBuilder wrote, for a file of `row_count` rows. Keeps a view of the bytes
  /// behind `in`. kCorrupt if they are no ascending map of just so many rows.
  [[nodiscard]] static arrow::Result<IdMap> Parse(ByteReader& in, int64_t row_count);

  /// REQUIRES: doc < the row count.
  [[nodiscard]] RowId IdOf(DocId doc) const;

  [[nodiscard]] std::optional<DocId> Find(const RowId& id) const;

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  friend class IdMapBuilder;

  struct Run {
    RowId first{};
    uint64_t first_doc = 0;
    uint64_t length = 0;
  };

  /// The first run of a block, and where the block's bytes start.
  struct Block {
    Run first{};
    uint64_t offset = 0;
    uint32_t run_count = 0;
  };

  /// Reads the run behind `previous`.
  [[nodiscard]] static arrow::Result<Run> ReadRun(ByteReader& in, const Run& previous);

  /// The run of `block` for which `is_behind` says of no later run's first that it is not behind.
  template <typename IsBehind>
  [[nodiscard]] Run Walk(const Block& block, IsBehind is_behind) const;

  std::vector<Block> blocks_;
  std::vector<Run> decoded_;  // all of them, while they are few
  ByteSpan runs_;
};

/// Collects the runs of a superfile while it is written.
class IdMapBuilder {
 public:
  /// Adds `count` rows with ids from `first` on. kInvalidArgument unless `first` is above every id
  /// added before and the last id fits.
  [[nodiscard]] arrow::Status Add(const RowId& first, int64_t count);

  void Encode(ByteWriter& out) const;

  /// REQUIRES: rows were added.
  [[nodiscard]] RowId min_id() const { return runs_.front().first; }

  [[nodiscard]] RowId max_id() const;

  [[nodiscard]] int64_t row_count() const { return static_cast<int64_t>(row_count_); }

  [[nodiscard]] int64_t memory_bytes() const {
    return static_cast<int64_t>(runs_.capacity() * sizeof(IdMap::Run));
  }

 private:
  std::vector<IdMap::Run> runs_;
  uint64_t row_count_ = 0;
};

}  // namespace infino
