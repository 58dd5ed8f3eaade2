#include "infino/commit/staging.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/log.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

arrow::Status ConfirmStaged(ObjectStore& store, const std::string& path, const arrow::Buffer& bytes,
                            const StopCondition& stop) {
  constexpr int64_t kPieceBytes = int64_t{8} << 20;
  const arrow::Status differs = MakeError(
      ErrorKind::kCorrupt, "stage " + path + ": the path is taken by an object of other content");
  ARROW_ASSIGN_OR_RAISE(const ObjectInfo info, Wait(store.Head(path), stop));
  if (info.size != bytes.size()) return differs;
  for (int64_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const int64_t length = std::min(kPieceBytes, bytes.size() - at);
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> piece,
                          Wait(store.GetRange(path, {.offset = at, .length = length}), stop));
    if (!piece->Equals(arrow::Buffer(bytes.data() + at, length))) return differs;
  }
  return arrow::Status::OK();
}

arrow::Status StageAll(ObjectStore& store, std::vector<StagedObject> objects,
                       const StopCondition& stop) {
  if (objects.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const std::vector<PutOutcome> outcomes,
                        Wait(store.PutAllIfAbsent(objects), stop));
  if (outcomes.size() != objects.size()) {
    return MakeError(ErrorKind::kInternal, "the store answered " + std::to_string(outcomes.size()) +
                                               " of " + std::to_string(objects.size()) + " puts");
  }
  for (size_t i = 0; i < objects.size(); ++i) {
    if (outcomes[i] == PutOutcome::kWritten) continue;
    ARROW_RETURN_NOT_OK(ConfirmStaged(store, objects[i].path, *objects[i].bytes, stop));
  }
  return arrow::Status::OK();
}

void Discard(ObjectStore& store, std::span<const std::string> paths) {
  constexpr int kPollsMax = 20;  // Wait asks every 50 ms.
  StopCondition soon;
  soon.poll = [polls = 0]() mutable { return ++polls > kPollsMax; };
  std::vector<arrow::Future<>> deletions;
  deletions.reserve(paths.size());
  for (const std::string& path : paths) deletions.push_back(store.Delete(path));
  for (size_t i = 0; i < deletions.size(); ++i) {
    // A failure, like a wait that ended early, leaves an object that nothing names.
    const arrow::Status deleted = WaitDone(deletions[i], soon);
    if (deleted.ok() || !IsLogged()) continue;
    Log(LogLevel::kWarning,
        "could not delete " + paths[i] +
            ", which a failed commit left and nothing names: " + deleted.message());
  }
}

}  // namespace infino
