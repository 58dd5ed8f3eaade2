#include "infino/catalog/sql_tables.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/catalog/catalog.h"
#include "infino/catalog/runtime.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/query/row_selector.h"
#include "infino/sql/sql_engine.h"
#include "infino/sql/table_source.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// Remembers which folder a name had: a table that is still there is where it was, and one that is
/// not says so itself, by its pointer. So the catalog is read for new names only.
class RuntimeTables final : public sql::TableSource {
 public:
  explicit RuntimeTables(Runtime& runtime) : runtime_(runtime) {}

  arrow::Result<std::vector<std::string>> Names(const StopCondition& /*stop*/) override {
    ARROW_ASSIGN_OR_RAISE(const CatalogContent content, runtime_.catalog().Read());
    std::vector<std::string> names;
    for (const auto& [name, folder] : content.tables) names.push_back(name);
    return names;
  }

  arrow::Result<sql::PinnedTable> Pin(const std::string& name, bool newest,
                                      const StopCondition& stop) override {
    if (const std::optional<std::string> known = Known(name)) {
      arrow::Result<sql::PinnedTable> pinned = PinIn(name, *known, newest, stop);
      if (!IsError(pinned.status(), ErrorKind::kNotFound)) return pinned;
      runtime_.Forget(*known);
    }
    ARROW_ASSIGN_OR_RAISE(const CatalogContent content, runtime_.catalog().Read());
    const auto entry = content.tables.find(name);
    if (entry == content.tables.end()) {
      return MakeError(ErrorKind::kNotFound, "there is no table '" + name + "'");
    }
    Remember(name, entry->second);
    return PinIn(name, entry->second, newest, stop);
  }

 private:
  arrow::Result<sql::PinnedTable> PinIn(const std::string& name, const std::string& folder,
                                        bool newest, const StopCondition& stop) {
    const std::shared_ptr<OpenedTable> table = runtime_.Table(folder);
    sql::PinnedTable pinned = {.name = name, .folder = folder, .snapshot = nullptr};
    ARROW_ASSIGN_OR_RAISE(pinned.snapshot,
                          newest ? table->loader->Newest(stop) : table->loader->Current(stop));
    return pinned;
  }

  [[nodiscard]] std::optional<std::string> Known(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = folders_.find(name);
    if (found == folders_.end()) return std::nullopt;
    return found->second;
  }

  void Remember(const std::string& name, const std::string& folder) {
    const std::lock_guard lock(mutex_);
    folders_.insert_or_assign(name, folder);
  }

  Runtime& runtime_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> folders_;
};

class SqlSelector final : public RowSelector {
 public:
  explicit SqlSelector(Runtime& runtime) : runtime_(runtime) {}

  arrow::Result<RowSelection> SelectRows(const QueryContext& context, const std::string& predicate,
                                         std::span<const SuperfileEntry* const> entries) override {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<sql::SqlEngine> engine, runtime_.Sql());
    return engine->SelectRows(context, predicate, entries);
  }

 private:
  Runtime& runtime_;
};

}  // namespace

std::shared_ptr<RowSelector> MakeSqlSelector(Runtime& runtime) {
  return std::make_shared<SqlSelector>(runtime);
}

std::unique_ptr<sql::TableSource> MakeTableSource(Runtime& runtime) {
  return std::make_unique<RuntimeTables>(runtime);
}

}  // namespace infino
