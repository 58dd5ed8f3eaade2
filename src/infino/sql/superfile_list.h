#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "duckdb/common/multi_file/multi_file_list.hpp"
#include "infino/sql/table_source.h"

namespace infino::sql {

/// The superfiles of a table that a scan reads, as DuckDB's list of files. Immutable.
class SuperfileList final : public duckdb::MultiFileList {
 public:
  /// All superfiles of `table` that have rows left. `table` outlives the list.
  [[nodiscard]] static duckdb::shared_ptr<SuperfileList> All(const PinnedTable& table);

  /// Those of `table` at some places in Snapshot::files.
  SuperfileList(const PinnedTable& table, std::vector<size_t> items);

  [[nodiscard]] const PinnedTable& table() const { return table_; }

  /// Their places in Snapshot::files.
  [[nodiscard]] const std::vector<size_t>& items() const { return items_; }

  [[nodiscard]] const SuperfileEntry& entry(size_t item) const {
    return *table_.snapshot->files[items_[item]].entry;
  }

  [[nodiscard]] std::vector<const SuperfileEntry*> entries() const;

  /// How many rows are left in them.
  [[nodiscard]] int64_t live_row_count() const;

  /// What DuckDB calls the file of an entry.
  [[nodiscard]] static std::string PathOf(const SuperfileEntry& entry);

  [[nodiscard]] duckdb::vector<duckdb::OpenFileInfo> GetAllFiles() const override;
  [[nodiscard]] duckdb::FileExpandResult GetExpandResult() const override;
  [[nodiscard]] duckdb::idx_t GetTotalFileCount() const override;
  [[nodiscard]] duckdb::unique_ptr<duckdb::NodeStatistics> GetCardinality(
      duckdb::ClientContext& context) const override;
  [[nodiscard]] duckdb::unique_ptr<duckdb::MultiFileList> Copy() const override;

 protected:
  [[nodiscard]] duckdb::OpenFileInfo GetFile(duckdb::idx_t item) const override;

 private:
  const PinnedTable& table_;
  const std::vector<size_t> items_;
};

}  // namespace infino::sql
