#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include "infino/superfile/row_fetch_map.h"

namespace infino {

/// A row group that has just been written.
struct WrittenRowGroup {
  std::shared_ptr<arrow::Buffer> bytes;
  int64_t offset = 0;  ///< In the file.
  int64_t row_count = 0;
  parquet::Compression::type codec = parquet::Compression::UNCOMPRESSED;
};

/// Finds the pages of a row group by walking through its bytes, since Arrow's writer tells their
/// places only in the footer: one entry per leaf column, the first `skipped_leaves` left out.
/// REQUIRES: version 2 data pages, whose headers know their row counts.
[[nodiscard]] arrow::Result<std::vector<ChunkPages>> WalkPages(
    const WrittenRowGroup& group, const parquet::SchemaDescriptor& schema, int skipped_leaves);

}  // namespace infino
