#include "infino/sql/table_catalog.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/catalog/entry_lookup_info.hpp"
#include "duckdb/common/exception.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parser/constraints/not_null_constraint.hpp"
#include "duckdb/parser/parsed_data/attach_info.hpp"
#include "duckdb/parser/parsed_data/create_schema_info.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "duckdb/storage/database_size.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"
#include "duckdb/storage/storage_extension.hpp"
#include "duckdb/storage/table_storage_info.hpp"
#include "duckdb/transaction/transaction.hpp"
#include "duckdb/transaction/transaction_manager.hpp"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_scan.h"
#include "infino/sql/table_source.h"

namespace infino::sql {
namespace {

using duckdb::CatalogTransaction;
using duckdb::CatalogType;
using duckdb::ClientContext;
using duckdb::optional_ptr;

[[noreturn]] void Refuse() {
  throw duckdb::PermissionException("SQL only reads; append, update and delete have methods");
}

class TableEntry final : public duckdb::TableCatalogEntry {
 public:
  TableEntry(duckdb::Catalog& of_catalog, duckdb::SchemaCatalogEntry& of_schema,
             duckdb::CreateTableInfo& info, const PinnedTable& table)
      : TableCatalogEntry(of_catalog, of_schema, info), table_(table) {}

  duckdb::unique_ptr<duckdb::BaseStatistics> GetStatistics(ClientContext& context,
                                                           duckdb::column_t column) override {
    static_cast<void>(context);
    return StatisticsOfAll(*SuperfileList::All(table_), SqlColumnsOf(table_.snapshot->root.schema),
                           column);
  }

  duckdb::TableFunction GetScanFunction(ClientContext& context,
                                        duckdb::unique_ptr<duckdb::FunctionData>& bound) override {
    return BindTableScan(context, *this, table_, bound);
  }

  duckdb::TableStorageInfo GetStorageInfo(ClientContext& /*context*/) override {
    duckdb::TableStorageInfo info;
    const ManifestTotals& totals = table_.snapshot->root.totals;
    info.cardinality = static_cast<uint64_t>(totals.live_row_count());
    return info;
  }

  /// What DuckDB may read beside the declared columns.
  [[nodiscard]] duckdb::virtual_column_map_t GetVirtualColumns() const override {
    return ScanVirtualColumns();
  }

  [[nodiscard]] duckdb::vector<duckdb::column_t> GetRowIdColumns() const override { return {}; }

 private:
  const PinnedTable& table_;
};

class SchemaEntry final : public duckdb::SchemaCatalogEntry {
 public:
  SchemaEntry(duckdb::Catalog& of_catalog, duckdb::CreateSchemaInfo& info)
      : SchemaCatalogEntry(of_catalog, info) {}

  void Scan(ClientContext& context, CatalogType wanted,
            const std::function<void(duckdb::CatalogEntry&)>& callback) override {
    if (wanted != CatalogType::TABLE_ENTRY) return;
    StatementState& state = StatementState::Of(context);
    for (const PinnedTable* table : ValueOrThrow(context, state.FindAll())) {
      callback(EntryOf(state, *table));
    }
  }

  void Scan(CatalogType /*type*/,
            const std::function<void(duckdb::CatalogEntry&)>& /*callback*/) override {}

  optional_ptr<duckdb::CatalogEntry> LookupEntry(CatalogTransaction transaction,
                                                 const duckdb::EntryLookupInfo& lookup) override {
    if (lookup.GetCatalogType() != CatalogType::TABLE_ENTRY) return nullptr;
    ClientContext& context = transaction.GetContext();
    StatementState& state = StatementState::Of(context);
    const arrow::Result<const PinnedTable*> table = state.Find(lookup.GetEntryName());
    // DuckDB looks in other schemas, too.
    if (IsError(table.status(), ErrorKind::kNotFound)) {
      state.NoteMissing(lookup.GetEntryName(), table.status());
      return nullptr;
    }
    ThrowIfFailed(context, table.status());
    return &EntryOf(state, **table);
  }

  optional_ptr<duckdb::CatalogEntry> CreateIndex(CatalogTransaction /*transaction*/,
                                                 duckdb::CreateIndexInfo& /*info*/,
                                                 duckdb::TableCatalogEntry& /*table*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateFunction(CatalogTransaction /*transaction*/,
                                                    duckdb::CreateFunctionInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateTable(CatalogTransaction /*transaction*/,
                                                 duckdb::BoundCreateTableInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateView(CatalogTransaction /*transaction*/,
                                                duckdb::CreateViewInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateSequence(CatalogTransaction /*transaction*/,
                                                    duckdb::CreateSequenceInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateTableFunction(
      CatalogTransaction /*transaction*/, duckdb::CreateTableFunctionInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateCopyFunction(
      CatalogTransaction /*transaction*/, duckdb::CreateCopyFunctionInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreatePragmaFunction(
      CatalogTransaction /*transaction*/, duckdb::CreatePragmaFunctionInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateCollation(
      CatalogTransaction /*transaction*/, duckdb::CreateCollationInfo& /*info*/) override {
    Refuse();
  }

  optional_ptr<duckdb::CatalogEntry> CreateType(CatalogTransaction /*transaction*/,
                                                duckdb::CreateTypeInfo& /*info*/) override {
    Refuse();
  }

  void DropEntry(ClientContext& /*context*/, duckdb::DropInfo& /*info*/) override { Refuse(); }

  void Alter(CatalogTransaction /*transaction*/, duckdb::AlterInfo& /*info*/) override { Refuse(); }

 private:
  TableEntry& EntryOf(StatementState& state, const PinnedTable& table) {
    const std::lock_guard lock(state.entries_mutex());
    std::shared_ptr<void>& kept = state.entries()[table.name];
    if (kept == nullptr) {
      duckdb::CreateTableInfo info(*this, table.name);
      for (const SqlColumn& column : SqlColumnsOf(table.snapshot->root.schema)) {
        info.columns.AddColumn(duckdb::ColumnDefinition(column.name, column.type));
        const TableColumn* declared = table.snapshot->root.schema.FindById(column.field_id);
        if (declared == nullptr || !declared->field->nullable()) {
          info.constraints.push_back(duckdb::make_uniq<duckdb::NotNullConstraint>(
              duckdb::LogicalIndex(info.columns.LogicalColumnCount() - 1)));
        }
      }
      kept = std::make_shared<TableEntry>(catalog, *this, info, table);
    }
    return *static_cast<TableEntry*>(kept.get());
  }
};

class TableCatalog final : public duckdb::Catalog {
 public:
  explicit TableCatalog(duckdb::AttachedDatabase& database) : Catalog(database) {}

  void Initialize(bool /*load_builtin*/) override {
    duckdb::CreateSchemaInfo info;
    info.catalog = GetName();
    info.schema = kSchema;
    schema_ = duckdb::make_uniq<SchemaEntry>(*this, info);
  }

  duckdb::string GetCatalogType() override { return kDatabase; }

  [[nodiscard]] duckdb::string GetDefaultSchema() const override { return kSchema; }

  bool InMemory() override { return true; }

  duckdb::string GetDBPath() override { return ""; }

  duckdb::DatabaseSize GetDatabaseSize(ClientContext& /*context*/) override { return {}; }

  optional_ptr<duckdb::SchemaCatalogEntry> LookupSchema(
      CatalogTransaction /*transaction*/, const duckdb::EntryLookupInfo& lookup,
      duckdb::OnEntryNotFound if_not_found) override {
    if (duckdb::StringUtil::CIEquals(lookup.GetEntryName(), kSchema)) return schema_.get();
    if (if_not_found == duckdb::OnEntryNotFound::RETURN_NULL) return nullptr;
    throw duckdb::BinderException("there is no schema '%s'; tables are in '%s'",
                                  lookup.GetEntryName(), kSchema);
  }

  void ScanSchemas(ClientContext& /*context*/,
                   std::function<void(duckdb::SchemaCatalogEntry&)> callback) override {
    callback(*schema_);
  }

  optional_ptr<duckdb::CatalogEntry> CreateSchema(CatalogTransaction /*transaction*/,
                                                  duckdb::CreateSchemaInfo& /*info*/) override {
    Refuse();
  }

  void DropSchema(ClientContext& /*context*/, duckdb::DropInfo& /*info*/) override { Refuse(); }

  duckdb::PhysicalOperator& PlanCreateTableAs(ClientContext& /*context*/,
                                              duckdb::PhysicalPlanGenerator& /*planner*/,
                                              duckdb::LogicalCreateTable& /*op*/,
                                              duckdb::PhysicalOperator& /*plan*/) override {
    Refuse();
  }

  duckdb::PhysicalOperator& PlanInsert(ClientContext& /*context*/,
                                       duckdb::PhysicalPlanGenerator& /*planner*/,
                                       duckdb::LogicalInsert& /*op*/,
                                       optional_ptr<duckdb::PhysicalOperator> /*plan*/) override {
    Refuse();
  }

  duckdb::PhysicalOperator& PlanDelete(ClientContext& /*context*/,
                                       duckdb::PhysicalPlanGenerator& /*planner*/,
                                       duckdb::LogicalDelete& /*op*/,
                                       duckdb::PhysicalOperator& /*plan*/) override {
    Refuse();
  }

  duckdb::PhysicalOperator& PlanUpdate(ClientContext& /*context*/,
                                       duckdb::PhysicalPlanGenerator& /*planner*/,
                                       duckdb::LogicalUpdate& /*op*/,
                                       duckdb::PhysicalOperator& /*plan*/) override {
    Refuse();
  }

 private:
  duckdb::unique_ptr<SchemaEntry> schema_;
};

/// Transactions carry nothing: what a statement sees is in its StatementState.
class TableTransactions final : public duckdb::TransactionManager {
 public:
  explicit TableTransactions(duckdb::AttachedDatabase& database) : TransactionManager(database) {}

  duckdb::Transaction& StartTransaction(ClientContext& context) override {
    auto transaction = std::make_unique<duckdb::Transaction>(*this, context);
    duckdb::Transaction& started = *transaction;
    const std::lock_guard lock(mutex_);
    running_.push_back(std::move(transaction));
    return started;
  }

  duckdb::ErrorData CommitTransaction(ClientContext& /*context*/,
                                      duckdb::Transaction& transaction) override {
    End(transaction);
    return {};
  }

  void RollbackTransaction(duckdb::Transaction& transaction) override { End(transaction); }

  void Checkpoint(ClientContext& /*context*/, bool /*force*/) override {}

 private:
  void End(const duckdb::Transaction& transaction) {
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [&](const auto& each) { return each.get() == &transaction; });
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<duckdb::Transaction>> running_;
};

}  // namespace

duckdb::shared_ptr<duckdb::StorageExtension> MakeTableStorage() {
  auto storage = duckdb::make_shared_ptr<duckdb::StorageExtension>();
  storage->attach = [](optional_ptr<duckdb::StorageExtensionInfo> /*info*/,
                       ClientContext& /*context*/, duckdb::AttachedDatabase& database,
                       const std::string& /*name*/, duckdb::AttachInfo& /*attach*/,
                       duckdb::AttachOptions& /*options*/) -> duckdb::unique_ptr<duckdb::Catalog> {
    return duckdb::make_uniq<TableCatalog>(database);
  };
  storage->create_transaction_manager =
      [](optional_ptr<duckdb::StorageExtensionInfo> /*info*/, duckdb::AttachedDatabase& database,
         duckdb::Catalog& /*catalog*/) -> duckdb::unique_ptr<duckdb::TransactionManager> {
    return duckdb::make_uniq<TableTransactions>(database);
  };
  return storage;
}

}  // namespace infino::sql
