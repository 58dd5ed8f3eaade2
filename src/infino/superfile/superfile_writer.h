#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/vector/vector_space.h"
#include "infino/options.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/table_schema.h"
#include "infino/superfile/value_counts.h"

namespace infino {

struct SuperfileWriterOptions {
  SuperfileId id;
  Compression compression = Compression::kZstd;

  /// What the codes of each vector column are made with, by field id.
  std::map<int32_t, std::shared_ptr<const vector::VectorSpace>> spaces = {};

  /// Where the file goes from `file_memory_bytes` on, and the indexes' memory that is above
  /// `index_memory_bytes` for all of them together; null: nowhere. The file is the same either way.
  std::shared_ptr<ScratchSpace> scratch = {};
  int64_t index_memory_bytes = 0;
  int64_t file_memory_bytes = int64_t{8} << 20;
};

/// A finished superfile, ready to be put.
struct BuiltSuperfile {
  // The file is in one of the two, and the other is null.
  std::shared_ptr<arrow::Buffer> bytes;
  std::shared_ptr<const ScratchFile> file;
  SuperfileSummary summary;
  std::vector<TermFilter> term_filters;
  std::vector<ValueCounts> value_counts;  ///< Of columns whose values repeat, at most one each.
};

/// Writes one superfile in one pass: row groups, index blobs, open section, Parquet footer.
///
/// Rows must come in ascending `_id` order. Single-threaded; superfiles are what runs in parallel.
/// After a failure the writer is of no further use. The layout is docs/format/superfile.md.
class SuperfileWriter {
 public:
  /// `schema` and every type in it must have passed ValidateTableSchema. kInvalidArgument if a
  /// vector column has no space.
  [[nodiscard]] static arrow::Result<std::unique_ptr<SuperfileWriter>> Make(
      const TableSchema& schema, const SuperfileWriterOptions& options);

  virtual ~SuperfileWriter() = default;

  /// Adds the rows of `batch`, whose columns are the declared columns of the schema in order (also
  /// those that are not stored), with ids `first_id`, `first_id` + 1, and so on.
  /// REQUIRES: `first_id` is above every id added before.
  [[nodiscard]] virtual arrow::Status Add(const arrow::RecordBatch& batch, RowId first_id) = 0;

  /// The same with the ids of all rows, which ascend. REQUIRES: as many as rows, the first as
  /// above.
  [[nodiscard]] virtual arrow::Status Add(const arrow::RecordBatch& batch,
                                          std::span<const RowId> ids) = 0;

  /// What the writer holds in memory by now, in bytes, and about what Finish needs on top.
  [[nodiscard]] virtual int64_t memory_bytes() const = 0;

  /// About how long the file would be if it were finished now.
  [[nodiscard]] virtual int64_t file_bytes() const = 0;

  [[nodiscard]] virtual int64_t row_count() const = 0;

  /// Ends the file. Called once, last. REQUIRES: at least one row was added.
  [[nodiscard]] virtual arrow::Result<BuiltSuperfile> Finish() = 0;
};

/// kInvalidArgument, naming the column and the reason, if `schema` can't be written: a duplicate or
/// reserved name, a type Parquet does not hold, an index on a column that can't have it.
[[nodiscard]] arrow::Status ValidateTableSchema(const TableSchema& schema);

}  // namespace infino
