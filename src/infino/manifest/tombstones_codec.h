#pragma once

#include <memory>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"

namespace infino {

/// The deleted rows of a superfile as an object to be staged, and what its entry says of it.
struct EncodedTombstones {
  TombstonesRef ref;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// The tombstones of `superfile` as `commit` writes them (docs/format/tombstones.md). Equal sets
/// give equal bytes. REQUIRES: `deleted` is not empty.
[[nodiscard]] EncodedTombstones EncodeTombstones(const SuperfileId& superfile,
                                                 const CommitId& commit, const RowBitmap& deleted);

/// Reads the tombstones that `entry` names. kCorrupt, naming `object`, unless size and hash are
/// those of the entry, and the bytes a set of as many of its rows as it says. REQUIRES: the entry
/// has tombstones.
[[nodiscard]] arrow::Result<RowBitmap> DecodeTombstones(const SuperfileEntry& entry,
                                                        const arrow::Buffer& bytes,
                                                        std::string_view object);

}  // namespace infino
