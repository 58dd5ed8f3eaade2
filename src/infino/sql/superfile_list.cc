#include "infino/sql/superfile_list.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/common/helper.hpp"
#include "duckdb/common/multi_file/multi_file_list.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"
#include "infino/sql/superfile_system.h"
#include "infino/sql/table_source.h"

namespace infino::sql {

duckdb::shared_ptr<SuperfileList> SuperfileList::All(const PinnedTable& table) {
  std::vector<size_t> items;
  const auto& files = table.snapshot->files;
  items.reserve(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].entry->live_row_count() == 0) continue;
    if (table.only != nullptr && !table.only->contains(files[i].entry)) continue;
    items.push_back(i);
  }
  return duckdb::make_shared_ptr<SuperfileList>(table, std::move(items));
}

SuperfileList::SuperfileList(const PinnedTable& table, std::vector<size_t> items)
    : table_(table), items_(std::move(items)) {}

std::vector<const SuperfileEntry*> SuperfileList::entries() const {
  std::vector<const SuperfileEntry*> entries;
  entries.reserve(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) entries.push_back(&entry(i));
  return entries;
}

int64_t SuperfileList::live_row_count() const {
  int64_t rows = 0;
  for (size_t i = 0; i < items_.size(); ++i) rows += entry(i).live_row_count();
  return rows;
}

std::string SuperfileList::PathOf(const SuperfileEntry& entry) {
  return SuperfileSystem::Folder() + entry.id.ToHex() + ".parquet";
}

duckdb::vector<duckdb::OpenFileInfo> SuperfileList::GetAllFiles() const {
  duckdb::vector<duckdb::OpenFileInfo> files;
  files.reserve(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) files.emplace_back(PathOf(entry(i)));
  return files;
}

/// Never a single one: DuckDB would take what it did not read from that file's footer.
duckdb::FileExpandResult SuperfileList::GetExpandResult() const {
  return items_.empty() ? duckdb::FileExpandResult::NO_FILES
                        : duckdb::FileExpandResult::MULTIPLE_FILES;
}

duckdb::idx_t SuperfileList::GetTotalFileCount() const {
  return items_.size();
}

duckdb::unique_ptr<duckdb::NodeStatistics> SuperfileList::GetCardinality(
    duckdb::ClientContext& /*context*/) const {
  const auto rows = static_cast<uint64_t>(live_row_count());
  return duckdb::make_uniq<duckdb::NodeStatistics>(rows, rows);
}

duckdb::unique_ptr<duckdb::MultiFileList> SuperfileList::Copy() const {
  return duckdb::make_uniq<SuperfileList>(table_, items_);
}

duckdb::OpenFileInfo SuperfileList::GetFile(duckdb::idx_t item) const {
  return item < items_.size() ? duckdb::OpenFileInfo(PathOf(entry(item))) : duckdb::OpenFileInfo();
}

}  // namespace infino::sql
