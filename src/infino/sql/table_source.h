#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include <arrow/result.h>

#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/supertable/snapshot.h"

namespace infino::sql {

/// A table of one version, as a statement sees it.
struct PinnedTable {
  std::string name;
  std::string folder;
  std::shared_ptr<const Snapshot> snapshot;

  /// If set, just these of the snapshot's superfiles are read.
  std::shared_ptr<const std::unordered_set<const SuperfileEntry*>> only = nullptr;
};

/// The tables of a connection; the catalog implements it. Thread-safe; blocks in Wait.
class TableSource {
 public:
  TableSource() = default;
  virtual ~TableSource() = default;
  TableSource(const TableSource&) = delete;
  TableSource& operator=(const TableSource&) = delete;
  TableSource(TableSource&&) = delete;
  TableSource& operator=(TableSource&&) = delete;

  /// All names in byte order.
  [[nodiscard]] virtual arrow::Result<std::vector<std::string>> Names(
      const StopCondition& stop) = 0;

  /// The version that a query by itself would see, or the newest one whatever its age. kNotFound if
  /// there is no such table.
  [[nodiscard]] virtual arrow::Result<PinnedTable> Pin(const std::string& name, bool newest,
                                                       const StopCondition& stop) = 0;
};

}  // namespace infino::sql
