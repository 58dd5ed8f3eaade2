#include "infino/sql/lock_down.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/util/thread_pool.h>

#include "duckdb.hpp"
#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/virtual_file_system.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/parser/parsed_data/drop_info.hpp"
#include "duckdb/storage/storage_extension.hpp"
#include "infino/sql/allowed_functions.h"
#include "infino/sql/counted_values.h"
#include "infino/sql/prefilter.h"
#include "infino/sql/search_functions.h"
#include "infino/sql/sql_engine.h"
#include "infino/sql/superfile_system.h"
#include "infino/sql/table_catalog.h"
#include "infino/sql/table_scan.h"

namespace infino::sql {
namespace {

using duckdb::Value;

void Execute(duckdb::Connection& connection, const std::string& statement) {
  const auto result = connection.Query(statement);
  if (result->HasError()) result->ThrowError();
}

/// Drops all functions of the system catalog that are not allowed.
void DropFunctions(duckdb::ClientContext& context) {
  duckdb::Catalog& system = duckdb::Catalog::GetSystemCatalog(context);
  std::vector<duckdb::DropInfo> drops;
  for (duckdb::SchemaCatalogEntry& schema : system.GetSchemas(context)) {
    for (const duckdb::CatalogType set :
         {duckdb::CatalogType::SCALAR_FUNCTION_ENTRY, duckdb::CatalogType::TABLE_FUNCTION_ENTRY,
          duckdb::CatalogType::PRAGMA_FUNCTION_ENTRY, duckdb::CatalogType::COPY_FUNCTION_ENTRY}) {
      schema.Scan(context, set, [&](duckdb::CatalogEntry& entry) {
        if (IsAllowedFunction(entry.type, entry.name)) return;
        duckdb::DropInfo drop;
        drop.type = entry.type;
        drop.catalog = SYSTEM_CATALOG;
        drop.schema = schema.name;
        drop.name = entry.name;
        drop.allow_drop_internal = true;
        drops.push_back(drop);
      });
    }
  }
  for (duckdb::DropInfo& drop : drops) system.DropEntry(context, drop);
}

void Configure(const SqlEngineOptions& options, duckdb::DBConfig& config) {
  config.options.temporary_directory = options.temp_folder;
  config.SetOptionByName("autoinstall_known_extensions", false);
  config.SetOptionByName("autoload_known_extensions", false);
  config.SetOptionByName("allow_community_extensions", false);
  config.SetOptionByName("allow_persistent_secrets", false);
  config.SetOptionByName("enable_external_file_cache", false);
  config.SetOptionByName("validate_external_file_cache", "NO_VALIDATION");
  config.SetOptionByName("integer_division", true);
  config.SetOptionByName("default_null_order", "NULLS_LAST_ON_ASC_FIRST_ON_DESC");
  // One more than work: the caller only waits.
  const int threads =
      options.thread_count > 0 ? options.thread_count : arrow::GetCpuThreadPoolCapacity();
  config.SetOptionByName("threads", Value::BIGINT(threads + 1));
  if (options.memory_bytes > 0) {
    config.SetOptionByName("memory_limit", std::to_string(options.memory_bytes) + "B");
  }
}

}  // namespace

LockedDatabase OpenLockedDatabase(const SqlEngineOptions& options) {
  duckdb::DBConfig config;
  Configure(options, config);
  duckdb::StorageExtension::Register(config, kDatabase, MakeTableStorage());
  LockedDatabase locked;
  locked.database = std::make_unique<duckdb::DuckDB>(nullptr, &config);
  locked.database->GetFileSystem().RegisterSubSystem(duckdb::make_uniq<SuperfileSystem>());
  duckdb::Connection connection(*locked.database);
  Execute(connection, "SET GLOBAL TimeZone = 'UTC'");
  Execute(connection, "SET GLOBAL parquet_metadata_cache = true");
  connection.BeginTransaction();
  auto& entry =
      duckdb::Catalog::GetSystemCatalog(*connection.context)
          .GetEntry<duckdb::TableFunctionCatalogEntry>(*connection.context, "main", "parquet_scan");
  locked.parquet_scan =
      entry.functions.GetFunctionByArguments(*connection.context, {duckdb::LogicalType::VARCHAR});
  DropFunctions(*connection.context);
  connection.Commit();
  RegisterTableScan(*locked.database->instance, locked.parquet_scan);
  RegisterCountedValues(*locked.database->instance);
  RegisterSearches(*locked.database->instance);
  RegisterSearchRules(*locked.database->instance);
  Execute(connection, std::string("ATTACH '' AS ") + kDatabase + " (TYPE " + kDatabase + ")");
  Execute(connection, "SET GLOBAL allowed_directories = ['" + SuperfileSystem::Folder() + "']");
  Execute(connection, "SET GLOBAL enable_external_access = false");
  Execute(connection, "SET GLOBAL lock_configuration = true");
  return locked;
}

}  // namespace infino::sql
