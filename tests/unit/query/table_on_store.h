#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "infino/common/random.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/storage/metered_store.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/snapshot.h"
#include "support/builders.h"

namespace infino {

/// A table made by hand, without commits: superfiles in a metered memory store and a snapshot of
/// them. Rows are those of RowTextSchema.
class TableOnStore {
 public:
  explicit TableOnStore(const TextIndexOptions& options = {});

  /// Writes one superfile; rows are numbered on. Ids start at 1000 times the superfile's number.
  void AddSuperfile(const std::vector<NullableText>& texts);

  [[nodiscard]] const Snapshot& snapshot();

  [[nodiscard]] const std::shared_ptr<ObjectStore>& store() const { return store_; }

  [[nodiscard]] StoreCounters counters() const { return meter_->Snapshot(); }

  [[nodiscard]] const std::string& folder() const { return folder_; }

  [[nodiscard]] std::vector<const SuperfileEntry*> entries();

  [[nodiscard]] SuperfileEntry& entry(size_t i) { return part_->entries[i]; }

 private:
  std::string folder_ = "docs-1";
  std::shared_ptr<StoreMeter> meter_;
  std::shared_ptr<ObjectStore> store_;
  Random random_;
  TableSchema schema_;
  std::shared_ptr<ManifestPart> part_;
  Snapshot snapshot_;
  int64_t row_count_ = 0;
};

}  // namespace infino
