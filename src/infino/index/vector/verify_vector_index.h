#pragma once

#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino::vector {

/// Reads all of a vector index and holds its parts against each other: the head names `superfile`;
/// every document stands there once, in ascending order within its cluster; every checksum is
/// right; what stands behind the last code is zero; stored numbers are finite.
///
/// Fails with kCorrupt at the first fault, naming the index and the offset. Holds some MiB and 4
/// bytes a row. Blocks on `blob`.
[[nodiscard]] arrow::Status VerifyVectorIndex(const VectorIndexReader& index,
                                              const RangeReader& blob,
                                              const SuperfileId& superfile);

}  // namespace infino::vector
