#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/vector/vector_index_reader.h"

namespace infino {

class BlockChecksums;
class PageDictionaries;
class RowFetchMap;

/// One region of a superfile as its directory names it.
struct SuperfileRegion {
  std::string name;       ///< "text.<field id>", "row_map", "id_map", …
  ByteRange place;        ///< In the file.
  uint32_t checksum = 0;  ///< crc32c of its bytes.
};

/// An opened superfile: where everything is. Immutable and shared; reads nothing by itself.
///
/// Opened from the bytes of its open section, whose place the manifest entry knows; a file that
/// stands alone is opened through its Parquet footer by OpenSuperfileAlone.
class SuperfileReader {
 public:
  /// `file` gives the whole file's ranges, `open_section` the bytes that `place` names; `expected`
  /// is the id that the manifest has. kCorrupt, naming the file and the offset, for anything that
  /// breaks the format, a wrong checksum or another file's id.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const SuperfileReader>> Open(
      std::shared_ptr<const RangeReader> file, ByteRange place,
      std::shared_ptr<arrow::Buffer> open_section, const SuperfileId& expected);

  virtual ~SuperfileReader() = default;

  [[nodiscard]] virtual const SuperfileId& id() const = 0;
  [[nodiscard]] virtual int64_t row_count() const = 0;
  [[nodiscard]] virtual const RangeReader& file() const = 0;

  /// What the file calls itself in errors.
  [[nodiscard]] virtual const std::string& name() const = 0;

  /// The `_id` of a row. REQUIRES: doc < row_count().
  [[nodiscard]] virtual RowId IdOf(DocId doc) const = 0;

  /// The row with that `_id`, if the file has it.
  [[nodiscard]] virtual std::optional<DocId> FindId(const RowId& id) const = 0;

  /// The columns that have a keyword index, ascending.
  [[nodiscard]] virtual std::vector<int32_t> text_field_ids() const = 0;

  /// The keyword index of a column, or null if the file has none.
  [[nodiscard]] virtual const text::TextIndexReader* text_index(int32_t field_id) const = 0;

  /// The blob of that index, for its searches' reads. REQUIRES: text_index(field_id) != null.
  [[nodiscard]] virtual const RangeReader& text_blob(int32_t field_id) const = 0;

  /// The same for vector indexes.
  [[nodiscard]] virtual std::vector<int32_t> vector_field_ids() const = 0;
  [[nodiscard]] virtual const vector::VectorIndexReader* vector_index(int32_t field_id) const = 0;
  [[nodiscard]] virtual const RangeReader& vector_blob(int32_t field_id) const = 0;

  /// The columns of the Parquet body, `_id` first.
  [[nodiscard]] virtual const std::shared_ptr<arrow::Schema>& file_schema() const = 0;

  [[nodiscard]] virtual const std::vector<SuperfileRegion>& regions() const = 0;

  /// The page map, or null while it is a region of its own that was not handed over yet.
  [[nodiscard]] virtual std::shared_ptr<const RowFetchMap> row_map() const = 0;

  /// Where the page map is when row_map() is null.
  [[nodiscard]] virtual ByteRange row_map_place() const = 0;

  /// Hands over the bytes of row_map_place(); kept for all users of the reader. Thread-safe.
  [[nodiscard]] virtual arrow::Status SetRowMap(std::shared_ptr<arrow::Buffer> bytes) const = 0;

  /// Dictionary pages that were decoded already, for all users of the reader. Thread-safe.
  [[nodiscard]] virtual PageDictionaries& dictionaries() const = 0;

  /// The checksums of the row groups, for readers of long stretches of them.
  [[nodiscard]] virtual const BlockChecksums& block_checksums() const = 0;

  /// Where the open section is.
  [[nodiscard]] virtual const ByteRange& open_section() const = 0;

  /// About what the opened file holds in memory, in bytes.
  [[nodiscard]] virtual int64_t memory_bytes() const = 0;
};

/// Finds the open section of a file that stands alone, through its footer: the place for
/// SuperfileReader::Open and the id in it. Blocks on `file`.
struct OpenSectionPlace {
  ByteRange place;
  SuperfileId id;
};

[[nodiscard]] arrow::Result<OpenSectionPlace> FindOpenSection(const RangeReader& file,
                                                              const std::string& name);

/// Reads everything of a superfile, checks every checksum (regions, index blobs, pages), and
/// decodes it all: the body as Parquet, each keyword index as VerifyTextIndex does. Fails with
/// kCorrupt at the first fault, naming the region and the offset. Blocks on the reader's file.
[[nodiscard]] arrow::Status VerifySuperfile(const SuperfileReader& superfile);

}  // namespace infino
