#include "infino/connection.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/future.h>

#include "infino/catalog/catalog.h"
#include "infino/catalog/connect_to_store.h"
#include "infino/catalog/declared_schema.h"
#include "infino/catalog/runtime.h"
#include "infino/catalog/schema_document.h"
#include "infino/catalog/schema_evolution.h"
#include "infino/catalog/session.h"
#include "infino/catalog/table_handle.h"
#include "infino/commit/table_writer.h"
#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/sql/sql_engine.h"
#include "infino/storage/object_store.h"
#include "infino/storage/store_registry.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "infino/table.h"

namespace infino {
namespace {

/// Deletes `paths`, at most this many at a time.
arrow::Status DeleteAll(ObjectStore& store, const std::vector<std::string>& paths) {
  constexpr size_t kAtOnce = 64;
  for (size_t first = 0; first < paths.size(); first += kAtOnce) {
    std::vector<arrow::Future<>> deletes;
    for (size_t i = first; i < paths.size() && i < first + kAtOnce; ++i) {
      deletes.push_back(store.Delete(paths[i]));
    }
    arrow::Status failure;
    for (const arrow::Future<>& each : deletes) {
      const arrow::Status status = WaitDone(each);
      if (failure.ok()) failure = status;
    }
    ARROW_RETURN_NOT_OK(failure);
  }
  return arrow::Status::OK();
}

/// Deletes everything in a table's folder; the pointer last, so that a purge that was cut short is
/// still known to be of a dropped table.
arrow::Status Purge(ObjectStore& store, const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<ObjectInfo> objects, Wait(store.List(folder + "/")));
  const std::string pointer = PointerPath(folder);
  std::vector<std::string> paths;
  for (const ObjectInfo& object : objects) {
    if (object.path != pointer) paths.push_back(object.path);
  }
  ARROW_RETURN_NOT_OK(DeleteAll(store, paths));
  return WaitDone(store.Delete(pointer));
}

class TableConnection final : public Connection {
 public:
  explicit TableConnection(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  arrow::Result<std::shared_ptr<Table>> CreateTable(std::string_view name,
                                                    const std::shared_ptr<arrow::Schema>& schema,
                                                    const IndexSpec& spec) override {
    ARROW_RETURN_NOT_OK(CheckTableName(name));
    if (schema == nullptr) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "create table '" + std::string(name) + "': no schema");
    }
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    arrow::Result<TableSchema> declared = DeclareSchema(*schema, spec, *runtime->writing().random);
    if (!declared.ok()) {
      return FromForeign(declared.status(), "create table '" + std::string(name) + "'");
    }
    ARROW_ASSIGN_OR_RAISE(std::string folder, Create(*runtime, std::string(name), *declared));
    return MakeTableHandle(session_, std::string(name), std::move(folder));
  }

  arrow::Result<std::shared_ptr<Table>> OpenTable(std::string_view name) override {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<OpenedTable> table, FindTable(*runtime, name));
    if (table == nullptr) return Missing("open table", name);
    return MakeTableHandle(session_, std::string(name), table->folder);
  }

  arrow::Result<std::string> GetSchemaDocument(std::string_view name) override {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<OpenedTable> table, FindTable(*runtime, name));
    if (table == nullptr) return Missing("read the schema of table", name);
    ARROW_ASSIGN_OR_RAISE(const auto snapshot, table->loader->Newest({}));
    return FormatJson(SchemaToDocument(snapshot->root.schema));
  }

  arrow::Result<std::string> EvolveSchema(std::string_view name, std::string_view patch,
                                          std::optional<int64_t> expected_schema_id) override {
    ARROW_RETURN_NOT_OK(CheckTableName(name));
    const std::string context = "change the schema of table '" + std::string(name) + "'";
    arrow::Result<SchemaPatch> parsed = ParseSchemaPatch(patch);
    if (!parsed.ok()) return FromForeign(parsed.status(), context);
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<OpenedTable> table, FindTable(*runtime, name));
      arrow::Result<TableSchema> schema =
          table == nullptr
              ? CreateFromPatch(*runtime, std::string(name), *parsed, expected_schema_id)
              : Evolve(*table, *parsed, expected_schema_id);
      // Somebody else has created it meanwhile.
      if (table == nullptr && IsError(schema.status(), ErrorKind::kAlreadyExists)) continue;
      if (!schema.ok()) return FromForeign(schema.status(), context);
      return FormatJson(SchemaToDocument(*schema));
    }
  }

  arrow::Status DropTable(std::string_view name, bool purge) override {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    ARROW_ASSIGN_OR_RAISE(CatalogContent content, runtime->catalog().Read());
    const std::string key(name);
    const auto entry = content.tables.find(key);
    if (entry == content.tables.end()) return arrow::Status::OK();
    const std::string& folder = entry->second;
    const arrow::Status dropped = CommitDrop(runtime->writing(), folder);
    if (!dropped.ok() && !IsError(dropped, ErrorKind::kNotFound)) return dropped;
    runtime->Forget(folder);
    ARROW_RETURN_NOT_OK(runtime->catalog().Remove(key, folder));
    return purge ? Purge(*runtime->store(), folder) : arrow::Status::OK();
  }

  arrow::Result<std::vector<std::string>> ListTables() override {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    ARROW_ASSIGN_OR_RAISE(const CatalogContent content, runtime->catalog().Read());
    std::vector<std::string> names;
    names.reserve(content.tables.size());
    for (const auto& [name, folder] : content.tables) names.push_back(name);
    return names;
  }

  arrow::Result<std::shared_ptr<arrow::Table>> QuerySql(const SqlRequest& request) override {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session_->runtime());
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<sql::SqlEngine> engine, runtime->Sql());
    return engine->Query(
        {.text = request.sql, .parameters = request.parameters, .stop = request.stop});
  }

  [[nodiscard]] const std::string& uri() const override { return session_->uri(); }

 private:
  /// Whether the pointer in `folder` is there and not dropped. An entry without a live pointer
  /// counts as no table: its drop was cut short.
  static arrow::Result<bool> IsAlive(Runtime& runtime, const std::string& folder) {
    const arrow::Status status = runtime.Table(folder)->loader->Newest({}).status();
    if (!IsError(status, ErrorKind::kNotFound)) {
      ARROW_RETURN_NOT_OK(status);
      return true;
    }
    runtime.Forget(folder);
    return false;
  }

  /// The table of that name, or null.
  static arrow::Result<std::shared_ptr<OpenedTable>> FindTable(Runtime& runtime,
                                                               std::string_view name) {
    ARROW_ASSIGN_OR_RAISE(CatalogContent content, runtime.catalog().Read());
    const auto entry = content.tables.find(std::string(name));
    if (entry == content.tables.end()) return nullptr;
    ARROW_ASSIGN_OR_RAISE(const bool alive, IsAlive(runtime, entry->second));
    return alive ? runtime.Table(entry->second) : nullptr;
  }

  [[nodiscard]] arrow::Status Missing(const std::string& what, std::string_view name) const {
    return MakeError(ErrorKind::kNotFound, what + " '" + std::string(name) +
                                               "': there is no such table in " + session_->uri());
  }

  static arrow::Result<TableSchema> Evolve(const OpenedTable& table, const SchemaPatch& patch,
                                           std::optional<int64_t> expected_schema_id) {
    return table.writer->ChangeSchema(
        [&](const TableSchema& schema,
            bool has_superfiles) -> arrow::Result<std::optional<TableSchema>> {
          if (expected_schema_id && *expected_schema_id != schema.schema_id) {
            return MakeError(ErrorKind::kConflict,
                             "its schema_id is " + std::to_string(schema.schema_id) +
                                 ", not the expected " + std::to_string(*expected_schema_id));
          }
          return ApplyPatch(schema, patch, has_superfiles);
        },
        {});
  }

  static arrow::Result<TableSchema> CreateFromPatch(Runtime& runtime, const std::string& name,
                                                    const SchemaPatch& patch,
                                                    std::optional<int64_t> expected_schema_id) {
    if (expected_schema_id) {
      return MakeError(ErrorKind::kConflict, "there is no such table to have the expected " +
                                                 std::to_string(*expected_schema_id));
    }
    if (patch.fields.empty()) {
      return MakeError(ErrorKind::kNotFound,
                       "there is no such table, and the patch has no fields to create it with");
    }
    ARROW_ASSIGN_OR_RAISE(TableSchema schema, SchemaFromPatch(patch, *runtime.writing().random));
    ARROW_RETURN_NOT_OK(Create(runtime, name, schema).status());
    return schema;
  }

  static arrow::Status Taken(const std::string& name) {
    return MakeError(ErrorKind::kAlreadyExists,
                     "create table '" + name + "': a table of that name exists");
  }

  /// Makes the table in a folder of its own, then gives it the name. Returns the folder.
  static arrow::Result<std::string> Create(Runtime& runtime, const std::string& name,
                                           const TableSchema& schema) {
    ARROW_ASSIGN_OR_RAISE(const CatalogContent content, runtime.catalog().Read());
    const auto entry = content.tables.find(name);
    std::string dead;
    if (entry != content.tables.end()) {
      ARROW_ASSIGN_OR_RAISE(const bool alive, IsAlive(runtime, entry->second));
      if (alive) return Taken(name);
      dead = entry->second;
    }
    const std::string folder = TableFolder(name, runtime.writing().random->NextId<CommitId>());
    ARROW_RETURN_NOT_OK(CommitNewTable(runtime.writing(), folder, schema));
    while (true) {
      arrow::Result<std::string> holder = runtime.catalog().Add(name, folder, dead);
      // Without an answer the entry may be there, so the folder has to stay.
      if (IsError(holder.status(), ErrorKind::kCommitUnknown)) return holder.status();
      if (holder.ok() && *holder == folder) return folder;
      arrow::Status outcome = holder.status();
      if (holder.ok()) {
        const arrow::Result<bool> alive = IsAlive(runtime, *holder);
        if (alive.ok() && !*alive) {
          dead = *std::move(holder);
          continue;
        }
        outcome = alive.ok() ? Taken(name) : alive.status();
      }
      // What remains of a failed purge is unreferenced, and the outcome matters more.
      const arrow::Status purged = Purge(*runtime.store(), folder);
      return outcome.ok() ? purged : outcome;
    }
  }

  std::shared_ptr<Session> session_;
};

arrow::Status CheckOptions(const ConnectOptions& options) {
  const auto refuse = [](const std::string& what) {
    return MakeError(ErrorKind::kInvalidArgument, "connect: " + what);
  };
  if (options.thread_count < 0) {
    return refuse("thread_count must not be negative; thread_count=" +
                  std::to_string(options.thread_count));
  }
  if (options.freshness_ms && *options.freshness_ms < 0) {
    return refuse("freshness_ms must not be negative; freshness_ms=" +
                  std::to_string(*options.freshness_ms));
  }
  if (options.commit_timeout_ms < 0) {
    return refuse("commit_timeout_ms must not be negative; commit_timeout_ms=" +
                  std::to_string(options.commit_timeout_ms));
  }
  return arrow::Status::OK();
}

bool IsMemoryUri(std::string_view uri) {
  return uri == "memory" || uri == "memory:" || uri == "memory://";
}

}  // namespace

arrow::Result<std::shared_ptr<Connection>> ConnectToStore(std::string uri, PartsSource source,
                                                          const ConnectOptions& options) {
  ARROW_RETURN_NOT_OK(CheckOptions(options));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Session> session,
                        Session::Make(std::move(uri), std::move(source), options));
  if (options.validate) {
    ARROW_ASSIGN_OR_RAISE(Runtime * runtime, session->runtime());
    ARROW_RETURN_NOT_OK(runtime->catalog().Read());
  }
  return std::make_shared<TableConnection>(std::move(session));
}

arrow::Result<std::shared_ptr<Connection>> Connect(std::string_view uri,
                                                   const ConnectOptions& options) {
  const std::shared_ptr<Clock> clock = SystemClock();
  const std::shared_ptr<Random> random = Random::FromSystem();
  std::shared_ptr<ObjectStore> kept;
  if (IsMemoryUri(uri)) {
    ARROW_ASSIGN_OR_RAISE(OpenedStore opened, OpenStore(uri, options, clock));
    kept = std::move(opened.store);
  }
  PartsSource source = [=, uri = std::string(uri)]() -> arrow::Result<RuntimeParts> {
    RuntimeParts parts{.store = kept, .clock = clock, .random = random};
    if (parts.store == nullptr) {
      ARROW_ASSIGN_OR_RAISE(OpenedStore opened, OpenStore(uri, options, clock));
      parts.store = std::move(opened.store);
      parts.retries = opened.retries;
      parts.freshness_ms = opened.freshness_ms;
    }
    return parts;
  };
  return ConnectToStore(std::string(uri), std::move(source), options);
}

}  // namespace infino
