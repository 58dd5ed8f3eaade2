#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "infino/commit/build_pipeline.h"
#include "infino/commit/commit.h"
#include "infino/commit/table_writer.h"
#include "infino/common/ids.h"
#include "infino/manifest/points_codec.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "infino/table.h"

namespace infino {

/// Where the rows of an append go.
struct AppendDestination {
  std::string folder;                    ///< The table's.
  std::shared_ptr<const Snapshot> base;  ///< Its reference points.
  TableSchema schema;                    ///< The base's, and what the append adds behind it.
  RowId first_id;                        ///< Of the first row; the others follow one by one.

  /// Instead of `first_id` the ids of all rows, ascending; as many as there are rows.
  std::shared_ptr<const std::vector<RowId>> ids = nullptr;
};

/// The superfiles that the rows of a stream became; those with bytes are still to be staged.
struct BuiltAppend {
  uint64_t row_count = 0;
  std::vector<AppendedSuperfile> superfiles;
  std::vector<ReferencePoints> points;  ///< New ones that their codes are made with.
};

/// The commit that adds what was built; `operation` as in ManifestChange, `started` as in
/// CommitRequest.
[[nodiscard]] CommitRequest RequestOf(BuiltAppend built, std::string operation,
                                      std::chrono::nanoseconds started);

/// Reads `rows` to their end and builds superfiles of them.
///
/// A stream of up to about 64 Ki rows becomes one superfile, built on the calling thread. Longer
/// ones are dealt out to one builder a core, by runs, so that all cores work and superfiles get as
/// large as WriterEnvironment::build_memory_bytes allows; that figure holds for the builders and
/// finished superfiles together, above the rows as they come in. `rows` is read on the calling
/// thread only. What it starts with decides whether vector columns get new reference points. After
/// a failure no superfile is left in the store, as far as it can be told.
[[nodiscard]] arrow::Result<BuiltAppend> BuildSuperfiles(const WriterEnvironment& environment,
                                                         AppendDestination destination,
                                                         arrow::RecordBatchReader* rows,
                                                         const AppendOptions& options);

}  // namespace infino
