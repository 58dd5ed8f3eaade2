#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "cli/command.h"
#include "cli/inspect_objects.h"
#include "cli/output.h"
#include "infino/catalog/catalog.h"
#include "infino/common/clock.h"
#include "infino/common/content_hash.h"
#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/storage/store_registry.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"

namespace infino::cli {

namespace {

using Json = nlohmann::ordered_json;

struct InspectArguments {
  std::string target;
  std::string table;
  std::string object;
};

arrow::Status Print(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    return arrow::Status::IOError("write to standard output failed");
  }
  return arrow::Status::OK();
}

arrow::Status InspectFile(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto bytes, file->ReadAt(0, size));
  ARROW_ASSIGN_OR_RAISE(Json described, DescribeObject(path, bytes));
  described["check"] = "ok";
  return Print(described);
}

arrow::Result<Json> InspectStored(ObjectStore& store, const std::string& path) {
  auto read = Wait(store.Get(path), StopOnInterrupt());
  if (!read.ok() && IsError(read.status(), ErrorKind::kNotFound)) {
    return MakeError(ErrorKind::kCorrupt, "'" + path + "' is missing");
  }
  ARROW_RETURN_NOT_OK(read.status());
  return DescribeObject(path, read->bytes);
}

/// Whether the version has the reference points that a superfile's codes are relative to.
arrow::Status CheckLists(const Json& superfile, const Snapshot& snapshot) {
  for (const Json& column : superfile["vector_columns"]) {
    const auto space = snapshot.spaces.find(column["field_id"].get<int32_t>());
    for (const Json& list : column["lists"]) {
      ARROW_ASSIGN_OR_RAISE(const ContentHash id, ContentHash::FromHex(list.get<std::string>()));
      if (space != snapshot.spaces.end() && space->second->FindList(id)) continue;
      return MakeError(ErrorKind::kCorrupt, "superfile " + superfile["id"].get<std::string>() +
                                                " has codes relative to reference points " +
                                                id.ToHex() + ", which the table has not");
    }
  }
  return arrow::Status::OK();
}

/// Reads and checks the tombstones of a superfile, if it has some: how many objects those were.
arrow::Result<uint64_t> InspectTombstones(ObjectStore& store, const std::string& folder,
                                          const SuperfileEntry& entry) {
  if (!entry.tombstones) return uint64_t{0};
  const std::string path = ObjectPath(folder, entry.tombstones->object.name);
  ARROW_RETURN_NOT_OK(InspectStored(store, path).status());
  ARROW_ASSIGN_OR_RAISE(const VersionedBytes read, Wait(store.Get(path), StopOnInterrupt()));
  ARROW_RETURN_NOT_OK(DecodeTombstones(entry, *read.bytes, path).status());
  return uint64_t{1};
}

/// Reads and checks every object of the table's version; the first fault ends it.
arrow::Status InspectVersion(ObjectStore& store, const std::string& folder,
                             const Snapshot& snapshot) {
  ARROW_ASSIGN_OR_RAISE(Json described, InspectStored(store, PointerPath(folder)));
  ARROW_ASSIGN_OR_RAISE(
      Json root, InspectStored(store, ObjectPath(folder, snapshot.pinned.pointer.root.name)));
  Json superfiles = Json::array();
  uint64_t checked = 2;
  for (size_t i = 0; i < snapshot.parts.size(); ++i) {
    ARROW_RETURN_NOT_OK(
        InspectStored(store, ObjectPath(folder, snapshot.root.parts[i].object.name)).status());
    ++checked;
    for (const ObjectRef& summary : snapshot.parts[i]->summaries) {
      ARROW_RETURN_NOT_OK(InspectStored(store, ObjectPath(folder, summary.name)).status());
      ++checked;
    }
  }
  for (const PointsRef& points : snapshot.root.points) {
    ARROW_RETURN_NOT_OK(InspectStored(store, ObjectPath(folder, points.object.name)).status());
    ++checked;
  }
  for (const Snapshot::File& file : snapshot.files) {
    ARROW_ASSIGN_OR_RAISE(const Json superfile,
                          InspectStored(store, SuperfilePath(folder, file.entry->id)));
    if (superfile["rows"] != file.entry->row_count) {
      return MakeError(ErrorKind::kCorrupt, "superfile " + file.entry->id.ToHex() +
                                                " has not the rows that the manifest says");
    }
    ARROW_RETURN_NOT_OK(CheckLists(superfile, snapshot));
    Json entry = DescribeEntry(*file.entry);
    entry["regions"] = superfile["regions"];
    entry["vector_columns"] = superfile["vector_columns"];
    superfiles.push_back(std::move(entry));
    ++checked;
    ARROW_ASSIGN_OR_RAISE(const uint64_t tombstones, InspectTombstones(store, folder, *file.entry));
    checked += tombstones;
  }
  root["folder"] = folder;
  root["superfiles"] = std::move(superfiles);
  root["objects_checked"] = checked;
  root["check"] = "ok";
  return Print(root);
}

arrow::Status RunInspect(const InspectArguments& arguments, const Command& command) {
  if (arguments.table.empty()) return InspectFile(arguments.target);
  const auto clock = SystemClock();
  const auto random = Random::FromSystem();
  ARROW_ASSIGN_OR_RAISE(OpenedStore opened, OpenStore(arguments.target, command.connect, clock));
  ARROW_ASSIGN_OR_RAISE(const auto store,
                        MakeRetryingStore(std::move(opened.store), clock, random, opened.retries));
  const Catalog catalog(store, {.clock = clock, .random = random});
  ARROW_ASSIGN_OR_RAISE(const CatalogContent content, catalog.Read());
  const auto found = content.tables.find(arguments.table);
  if (found == content.tables.end()) {
    return MakeError(ErrorKind::kNotFound, "no table '" + arguments.table + "'");
  }
  const std::string& folder = found->second;
  if (!arguments.object.empty()) {
    ARROW_ASSIGN_OR_RAISE(Json described,
                          InspectStored(*store, ObjectPath(folder, arguments.object)));
    described["check"] = "ok";
    return Print(described);
  }
  const auto pointer = std::make_shared<const PointerStore>(
      store, folder, PointerStore::Options{.clock = clock, .random = random});
  SnapshotLoader loader(store, folder, pointer, {.clock = clock, .freshness_ms = 0});
  ARROW_ASSIGN_OR_RAISE(const auto snapshot, loader.Newest(StopOnInterrupt()));
  return InspectVersion(*store, folder, *snapshot);
}

}  // namespace

void AddInspectCommand(CLI::App& app, Command& command) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* inspect = app.add_subcommand(
      "inspect", "Print and check the objects of a table, or one object, as JSON");
  inspect->add_option("target", arguments->target, "Folder or URI of the tables; or one file")
      ->required();
  inspect->add_option("table", arguments->table, "Table: check its newest version");
  inspect->add_option("object", arguments->object,
                      "One object of the table, as in data/<id>.parquet");
  inspect->callback([arguments, &command] {
    command.run = [arguments, &command] { return RunInspect(*arguments, command); };
  });
}

}  // namespace infino::cli
