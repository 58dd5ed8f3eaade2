#include "infino/manifest/tombstones_codec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/object_names.h"

namespace infino {

EncodedTombstones EncodeTombstones(const SuperfileId& superfile, const CommitId& commit,
                                   const RowBitmap& deleted) {
  EncodedTombstones encoded;
  encoded.bytes = arrow::Buffer::FromVector(deleted.Serialize());
  ObjectRef& object = encoded.ref.object;
  object.size_bytes = encoded.bytes->size();
  object.hash = Blake3({encoded.bytes->data(), static_cast<size_t>(encoded.bytes->size())});
  object.name = TombstonesName(superfile, commit, object.hash);
  encoded.ref.deleted_count = static_cast<int64_t>(deleted.cardinality());
  return encoded;
}

arrow::Result<RowBitmap> DecodeTombstones(const SuperfileEntry& entry, const arrow::Buffer& bytes,
                                          std::string_view object) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): required of the caller.
  const TombstonesRef& ref = *entry.tombstones;
  const ByteSpan span(bytes.data(), static_cast<size_t>(bytes.size()));
  if (bytes.size() != ref.object.size_bytes) {
    return CorruptObject(object, "wrong size: expected=" + std::to_string(ref.object.size_bytes) +
                                     " found=" + std::to_string(bytes.size()));
  }
  if (Blake3(span) != ref.object.hash) {
    return CorruptObject(object, "the content does not have the hash that the manifest has");
  }
  ARROW_ASSIGN_OR_RAISE(
      RowBitmap deleted,
      RowBitmap::Deserialize(span, static_cast<uint64_t>(entry.row_count), object));
  if (deleted.cardinality() != static_cast<uint64_t>(ref.deleted_count)) {
    return CorruptObject(object,
                         "wrong number of rows: expected=" + std::to_string(ref.deleted_count) +
                             " found=" + std::to_string(deleted.cardinality()));
  }
  return deleted;
}

}  // namespace infino
