#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <parquet/types.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/options.h"

namespace infino {

/// One data page: header and data.
struct PagePlace {
  int64_t offset = 0;  ///< In the file.
  int32_t length = 0;
  uint32_t first_row = 0;  ///< Counted in the row group.
  uint32_t checksum = 0;   ///< crc32c of header and data.

  friend bool operator==(const PagePlace&, const PagePlace&) = default;
};

/// The pages of one leaf column in one row group, which stand one behind the other.
struct ChunkPages {
  ByteRange dictionary;  ///< Of the dictionary page; empty if there is none.
  uint32_t dictionary_checksum = 0;
  std::vector<PagePlace> pages;

  friend bool operator==(const ChunkPages&, const ChunkPages&) = default;
};

/// Where every page of a superfile is, but for those of `_id`: what fetching rows needs instead of
/// the Parquet footer. Immutable and thread-safe.
class RowFetchMap {
 public:
  /// What the map must fit; all of it known from the open section.
  struct Limits {
    int64_t row_count = 0;
    int64_t body_length = 0;
    int leaf_count = 0;  ///< Without `_id`.
  };

  /// Reads what Encode wrote; `object` is named in errors. kCorrupt unless it is a map within
  /// `limits`.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const RowFetchMap>> Parse(
      ByteSpan bytes, const std::string& object, const Limits& limits);

  explicit RowFetchMap(Compression compression) : compression_(compression) {}

  /// Adds a row group behind those before; one entry per leaf but `_id`.
  void AddRowGroup(int64_t row_count, std::vector<ChunkPages> leaves);

  void Encode(ByteWriter& out) const;

  [[nodiscard]] Compression compression() const { return compression_; }

  [[nodiscard]] int row_group_count() const { return static_cast<int>(row_groups_.size()); }

  /// The first row of each row group, and behind them the row count.
  [[nodiscard]] const std::vector<int64_t>& row_group_starts() const { return starts_; }

  /// REQUIRES: both in range.
  [[nodiscard]] const ChunkPages& Chunk(int row_group, int leaf) const {
    return row_groups_[static_cast<size_t>(row_group)][static_cast<size_t>(leaf)];
  }

  [[nodiscard]] int64_t memory_bytes() const { return memory_bytes_; }

  /// Of all dictionary pages, as they stand in the file.
  [[nodiscard]] int64_t dictionary_bytes() const { return dictionary_bytes_; }

 private:
  Compression compression_;
  std::vector<int64_t> starts_ = {0};
  std::vector<std::vector<ChunkPages>> row_groups_;
  int64_t memory_bytes_ = 0;
  int64_t dictionary_bytes_ = 0;
};

/// Parquet's name of our compression.
[[nodiscard]] parquet::Compression::type ToParquet(Compression compression);

}  // namespace infino
