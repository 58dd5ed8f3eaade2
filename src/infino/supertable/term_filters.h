#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/snapshot.h"

namespace infino {

/// The term filters of one text column, by superfile. Immutable; a superfile without a filter may
/// hold any term.
struct ColumnTermFilters {
  int32_t field_id = 0;
  std::unordered_map<SuperfileId, std::shared_ptr<arrow::Buffer>, RandomIdHash> by_superfile;

  /// The filter's bytes (codec/bloom_filter.h), or null.
  [[nodiscard]] const arrow::Buffer* Find(const SuperfileId& id) const {
    const auto found = by_superfile.find(id);
    return found == by_superfile.end() ? nullptr : found->second.get();
  }
};

/// Reads the filters of one column for all superfiles of `snapshot`, in one parallel round: one
/// range of each summary object. What `known` (may be null) has already is taken from there. The
/// caller keeps the result; nothing is cached here. kCorrupt if an object is missing or a filter
/// damaged. Blocks in Wait.
[[nodiscard]] arrow::Result<std::shared_ptr<const ColumnTermFilters>> LoadTermFilters(
    ObjectStore& store, std::string_view folder, const Snapshot& snapshot, int32_t field_id,
    const ColumnTermFilters* known, const StopCondition& stop);

}  // namespace infino
