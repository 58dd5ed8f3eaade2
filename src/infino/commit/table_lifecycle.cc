#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/staging.h"
#include "infino/commit/table_writer.h"
#include "infino/common/failpoint.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/manifest_change.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"

namespace infino {
namespace {

PointerStore PointerOf(const WriterEnvironment& environment, const std::string& folder) {
  return PointerStore(environment.store, folder,
                      {.clock = environment.clock,
                       .random = environment.random,
                       .timeout_ms = environment.commit_timeout_ms});
}

}  // namespace

arrow::Status CommitNewTable(const WriterEnvironment& environment, const std::string& folder,
                             const TableSchema& schema) {
  ARROW_RETURN_NOT_OK(ValidateTableSchema(schema));
  const CommitStamp stamp{.commit = environment.random->NextId<CommitId>(),
                          .unix_ms = environment.clock->UnixMs()};
  ARROW_ASSIGN_OR_RAISE(const NextVersion next, FirstVersion(schema, stamp));
  ARROW_RETURN_NOT_OK(Verify(nullptr, next, {}));
  std::vector<StagedObject> objects;
  for (const NamedObject& object : next.objects) {
    objects.push_back({.path = ObjectPath(folder, object.ref.name), .bytes = object.bytes});
  }
  ARROW_RETURN_NOT_OK(StageAll(*environment.store, std::move(objects), {}));
  INFINO_FAILPOINT("create.staged");
  ARROW_ASSIGN_OR_RAISE(
      const SwapOutcome outcome,
      PointerOf(environment, folder).Swap(nullptr, NextPointer(nullptr, next), nullptr));
  INFINO_FAILPOINT("create.swapped");
  if (outcome == SwapOutcome::kPublished) return arrow::Status::OK();
  return MakeError(ErrorKind::kAlreadyExists,
                   "create a table in " + folder + ": there is one already");
}

arrow::Status CommitDrop(const WriterEnvironment& environment, const std::string& folder) {
  const std::string path = PointerPath(folder);
  const PointerStore pointer = PointerOf(environment, folder);
  const CommitId commit = environment.random->NextId<CommitId>();
  const auto deadline =
      environment.clock->Monotonic() + std::chrono::milliseconds(environment.commit_timeout_ms);
  do {
    // Read here and not by PointerStore, which tells dropped and absent tables apart for nobody.
    ARROW_ASSIGN_OR_RAISE(VersionedBytes read, Wait(environment.store->Get(path)));
    PinnedPointer pinned{.pointer = {}, .version = std::move(read.version)};
    ARROW_ASSIGN_OR_RAISE(pinned.pointer, DecodePointer(*read.bytes, path));
    if (pinned.pointer.dropped) return arrow::Status::OK();
    INFINO_FAILPOINT("drop.read");
    ARROW_ASSIGN_OR_RAISE(const SwapOutcome outcome,
                          pointer.Swap(&pinned, DroppedPointer(pinned.pointer, commit), nullptr));
    INFINO_FAILPOINT("drop.swapped");
    if (outcome == SwapOutcome::kPublished) return arrow::Status::OK();
    constexpr uint64_t kPauseMsMax = 20;
    environment.clock->Sleep(std::chrono::milliseconds(1 + environment.random->Below(kPauseMsMax)));
  } while (environment.clock->Monotonic() < deadline);
  return MakeError(ErrorKind::kConflict,
                   "drop the table in " + folder + ": other commits won again and again; " +
                       "commit_timeout_ms=" + std::to_string(environment.commit_timeout_ms));
}

}  // namespace infino
