#pragma once

#include <cstdint>
#include <memory>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// A written vector index. The blob went to the sink; the open part is the caller's to keep, where
/// every search finds it without a read.
struct FinishedVectorIndex {
  std::shared_ptr<arrow::Buffer> open_part;
  int64_t blob_length = 0;
  int64_t row_count = 0;
};

/// Writes encoded rows as an index, docs/format/vector-index.md, at the sink's position. Equal rows
/// give equal bytes. Holds some MiB whatever their number. Fails as `rows` and the sink do.
[[nodiscard]] arrow::Result<FinishedVectorIndex> WriteVectorIndex(const VectorSpace& space,
                                                                  EncodedRows& rows,
                                                                  const SuperfileId& superfile,
                                                                  arrow::io::OutputStream& sink);

}  // namespace infino::vector
