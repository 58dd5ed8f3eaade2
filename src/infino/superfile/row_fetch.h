#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {

/// Fetches rows of one superfile by page, as rounds of reads with computing between them: one
/// round, two when the page map is a region that was not handed over yet. Does no IO itself.
///
/// Every page that is read has its checksum verified. Single-threaded.
class RowFetch {
 public:
  /// `docs` may be in any order and repeat; `field_ids` name stored columns of the file (0 is
  /// `_id`, which costs no page). `superfile` outlives the fetch.
  [[nodiscard]] static arrow::Result<std::unique_ptr<RowFetch>> Make(
      const SuperfileReader& superfile, std::vector<DocId> docs, std::vector<int32_t> field_ids);

  virtual ~RowFetch() = default;

  /// The ranges of the file needed next, in one round; empty when the rows are complete.
  [[nodiscard]] virtual arrow::Result<std::vector<ByteRange>> NextReads() = 0;

  /// Takes the bytes of the last NextReads, in its order.
  [[nodiscard]] virtual arrow::Status Feed(Buffers bytes) = 0;

  /// One row per doc, in the order of `docs`; one column per field id, typed as in the file schema.
  /// REQUIRES: NextReads() came back empty.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Rows() const = 0;
};

}  // namespace infino
