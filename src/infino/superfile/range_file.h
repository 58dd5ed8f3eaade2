#pragma once

#include <memory>

#include <arrow/io/interfaces.h>

#include "infino/common/byte_range.h"

namespace infino {

/// `file` for readers that want a file of Arrow's. Blocks on every read. `file` outlives it.
[[nodiscard]] std::shared_ptr<arrow::io::RandomAccessFile> ToRandomAccessFile(
    const RangeReader& file);

}  // namespace infino
