#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/superfile/value_counts.h"

namespace infino {

/// The bytes of one column's counts of one superfile (docs/format/manifest.md, "Value counts").
[[nodiscard]] std::shared_ptr<arrow::Buffer> EncodeValueCounts(const ValueCounts& counts);

/// The counts in such bytes, of a superfile of `row_count` rows. kCorrupt, naming `object`, for
/// anything that EncodeValueCounts does not write, and if there are more values than rows.
[[nodiscard]] arrow::Result<ValueCounts> DecodeValueCounts(ByteSpan bytes, int32_t field_id,
                                                           int64_t row_count,
                                                           std::string_view object);

}  // namespace infino
