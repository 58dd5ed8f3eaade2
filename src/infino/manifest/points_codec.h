#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/index/vector/point_list.h"
#include "infino/manifest/manifest.h"

namespace infino {

/// A list of reference points of one vector column, and how near the rows that it was trained on
/// were to it.
struct ReferencePoints {
  int32_t field_id = 0;
  std::shared_ptr<const vector::PointList> list;

  /// The mean squared distance of the rows to their nearest points, in the space of the codes.
  double spread = 0;
};

/// The bytes of `points` as `commit` writes them: an Arrow IPC stream, one row a point
/// (docs/format/manifest.md, "Points"). Equal arguments give equal bytes. kInternal for a spread
/// that is negative or not finite.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> EncodePoints(
    const ReferencePoints& points, const CommitId& commit);

/// Reads what EncodePoints wrote. kCorrupt, naming `object`, for anything else;
/// kUnsupportedVersion for a newer format. Damage that makes another valid list is not noticed
/// here: check the content's hash first (CheckContent).
[[nodiscard]] arrow::Result<ReferencePoints> DecodePoints(const arrow::Buffer& bytes,
                                                          std::string_view object);

[[nodiscard]] ObjectRef RefOfPoints(const arrow::Buffer& bytes);

}  // namespace infino
