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

#include "infino/common/byte_range.h"
#include "infino/common/log.h"
#include "infino/common/scratch.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

/// Whether `path` holds the `size` bytes that `read` gives by range.
template <typename Read>
arrow::Status Confirm(ObjectStore& store, const std::string& path, int64_t size, const Read& read,
                      const StopCondition& stop) {
  constexpr int64_t kPieceBytes = int64_t{8} << 20;
  const arrow::Status differs = MakeError(
      ErrorKind::kCorrupt, "stage " + path + ": the path is taken by an object of other content");
  ARROW_ASSIGN_OR_RAISE(const ObjectInfo info, Wait(store.Head(path), stop));
  if (info.size != size) return differs;
  for (int64_t at = 0; at < size; at += kPieceBytes) {
    const ByteRange range{.offset = at, .length = std::min(kPieceBytes, size - at)};
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> found,
                          Wait(store.GetRange(path, range), stop));
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> sent, read(range));
    if (!found->Equals(*sent)) return differs;
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status ConfirmStaged(ObjectStore& store, const std::string& path, const arrow::Buffer& bytes,
                            const StopCondition& stop) {
  const auto read = [&](ByteRange range) -> arrow::Result<std::shared_ptr<arrow::Buffer>> {
    return std::make_shared<arrow::Buffer>(bytes.data() + range.offset, range.length);
  };
  return Confirm(store, path, bytes.size(), read, stop);
}

arrow::Status ConfirmStaged(ObjectStore& store, const std::string& path, const ScratchFile& file,
                            const StopCondition& stop) {
  const auto read = [&](ByteRange range) { return file.Read(range); };
  return Confirm(store, path, file.size(), read, stop);
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
