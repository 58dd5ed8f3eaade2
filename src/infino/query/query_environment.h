#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "infino/common/work_pool.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/vector/vector_cache.h"
#include "infino/options.h"
#include "infino/query/superfile_cache.h"
#include "infino/query/term_filter_cache.h"
#include "infino/query/tombstones.h"
#include "infino/supertable/snapshot.h"

namespace infino {

class ConditionCache;
class RowSelector;
class ValueCountsCache;

/// What a query works with. Shared by all tables of a connection.
struct QueryEnvironment {
  std::shared_ptr<SuperfileCache> superfiles;
  std::shared_ptr<WorkPool> pool;                   ///< Null: everything on the caller's thread.
  std::shared_ptr<TermFilterCache> term_filters;    ///< Null: prune by term ranges only.
  std::shared_ptr<text::PostingsCache> postings{};  ///< Null: every query reads anew.
  std::shared_ptr<vector::VectorCache> vectors{};   ///< Null: every query reads anew.

  std::shared_ptr<TombstoneCache> tombstones{};  ///< Null: only where no row is deleted.
  std::shared_ptr<RowSelector> row_selector{};   ///< Null: there is no SQL.

  std::shared_ptr<ValueCountsCache> value_counts{};  ///< Null: counts of values are not used.
  std::shared_ptr<ConditionCache> conditions{};      ///< Null: each condition is scanned for.

  /// Codes, and stored vectors, of at most so many bytes a superfile are kept in `vectors` whole
  /// once a superfile has been searched before.
  int64_t whole_vectors_bytes_max = 0;
};

/// Where one query runs. Borrowed: all of it outlives the query. Nothing is null.
struct QueryContext {
  const QueryEnvironment* environment = nullptr;
  const Snapshot* snapshot = nullptr;
  const std::string* folder = nullptr;  ///< The table's.
  const StopCondition* stop = nullptr;
};

}  // namespace infino
