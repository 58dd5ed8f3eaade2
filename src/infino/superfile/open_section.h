#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/superfile/superfile_format.h"

namespace infino {

/// A stretch of the file that the open section points to.
struct OpenRegion {
  RegionKind kind = RegionKind::kText;
  int32_t field_id = 0;  ///< 0 for regions of no column.
  ByteRange place;       ///< In the file.
  uint32_t checksum = 0;

  friend bool operator==(const OpenRegion&, const OpenRegion&) = default;
};

/// A stretch of the open section itself.
struct OpenPart {
  PartKind kind = PartKind::kSchema;
  int32_t field_id = 0;
  ByteSpan bytes{};
};

/// The open section as its table of contents says: the parts are views of its bytes.
struct OpenSection {
  SuperfileId id;
  int64_t row_count = 0;
  int64_t body_length = 0;  ///< The row groups are [0, body_length) of the file.
  std::vector<OpenRegion> regions;
  std::vector<OpenPart> parts;

  /// The part of that kind and column, or null.
  [[nodiscard]] const OpenPart* FindPart(PartKind kind, int32_t field_id = 0) const;

  /// The region of that kind and column, or null.
  [[nodiscard]] const OpenRegion* FindRegion(RegionKind kind, int32_t field_id = 0) const;
};

/// Appends `section` to `out`, checksum last.
void EncodeOpenSection(const OpenSection& section, ByteWriter& out);

/// Reads an open section that stands at `place` of the file. Checks the checksum and that all
/// regions lie between body and open section; what is in the parts is not looked at. kCorrupt or
/// kUnsupportedVersion, naming `object`.
[[nodiscard]] arrow::Result<OpenSection> ParseOpenSection(ByteSpan bytes, const ByteRange& place,
                                                          const std::string& object);

}  // namespace infino
