#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/clock.h"
#include "infino/common/failpoint.h"
#include "infino/common/ids.h"
#include "infino/common/log.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/root_reader.h"

namespace infino {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

arrow::Status NoTable(std::string_view folder, std::string_view why) {
  return MakeError(ErrorKind::kNotFound,
                   "open the table in " + std::string(folder) + ": " + std::string(why));
}

arrow::Status ExplainRead(const arrow::Status& status, std::string_view folder) {
  if (IsError(status, ErrorKind::kNotFound)) return NoTable(folder, "it does not exist");
  return status;
}

arrow::Result<PinnedPointer> Pin(VersionedBytes read, std::string_view folder) {
  PinnedPointer pinned;
  ARROW_ASSIGN_OR_RAISE(pinned.pointer, DecodePointer(*read.bytes, PointerPath(folder)));
  if (pinned.pointer.dropped) return NoTable(folder, "it was dropped");
  pinned.version = std::move(read.version);
  return pinned;
}

bool Contains(const Pointer& pointer, const CommitId& commit) {
  const auto& recent = pointer.recent_commits;
  return std::find(recent.begin(), recent.end(), commit) != recent.end();
}

/// Failures that say for certain that nothing was written.
bool IsRefusal(const arrow::Status& status) {
  return IsError(status, ErrorKind::kInvalidArgument) ||
         IsError(status, ErrorKind::kResourceExhausted);
}

/// One call of Swap: sends one put, as often as it takes to learn what became of it.
class SwapAttempt {
 public:
  SwapAttempt(ObjectStore* store, std::string_view folder, const PointerStore::Options* options,
              const Pointer& next)
      : store_(store),
        folder_(folder),
        path_(PointerPath(folder)),
        options_(options),
        deadline_(Now() + milliseconds(options->timeout_ms)),
        bytes_(EncodePointer(next)) {}

  [[nodiscard]] arrow::Result<SwapOutcome> Run(const PinnedPointer* previous, const Pointer& next,
                                               ObjectVersion* next_version) {
    bool may_be_under_way = false;
    for (int pause = 0;; ++pause) {
      const arrow::Result<PutResult> put = Put(previous);
      if (put.ok() && put->outcome == PutOutcome::kWritten) {
        *next_version = put->version;
        return SwapOutcome::kPublished;
      }
      const arrow::Result<Sight> sight = Look(previous, next, next_version);
      if (sight.ok() && *sight == Sight::kPublished) return SwapOutcome::kPublished;
      if (sight.ok() && *sight == Sight::kLost) return SwapOutcome::kLost;
      if (sight.ok() && !may_be_under_way && IsRefusal(put.status())) return put.status();
      may_be_under_way = true;
      LogUnclear(put.status(), sight.status());
      if (!Pause(pause)) return Unknown(put.status(), sight.status());
    }
  }

 private:
  /// What reading the pointer back shows.
  enum class Sight : uint8_t { kPublished, kLost, kUnmoved };

  [[nodiscard]] nanoseconds Now() const { return options_->clock->Monotonic(); }

  /// Ends the wait for one answer; a lost one must not use up all the time there is.
  [[nodiscard]] StopCondition StopOfOneTry() const {
    constexpr milliseconds kTryTimeout{10'000};
    const nanoseconds end = std::min<nanoseconds>(Now() + kTryTimeout, deadline_);
    StopCondition stop;
    stop.poll = [this, end] { return Now() >= end; };
    return stop;
  }

  [[nodiscard]] arrow::Result<PutResult> Put(const PinnedPointer* previous) const {
    INFINO_FAILPOINT("pointer.before_put");
    auto answer = previous == nullptr ? store_->PutIfAbsent(path_, bytes_)
                                      : store_->PutIfMatch(path_, bytes_, previous->version);
    auto put = Wait(answer, StopOfOneTry());
    INFINO_FAILPOINT("pointer.after_put");
    return put;
  }

  [[nodiscard]] arrow::Result<Sight> Look(const PinnedPointer* previous, const Pointer& next,
                                          ObjectVersion* next_version) const {
    const StopCondition stop = StopOfOneTry();
    auto read = Wait(store_->Get(path_), stop);
    if (IsError(read.status(), ErrorKind::kNotFound)) {
      // Of a pointer that was there, nothing is left only once the table is dropped and purged.
      return previous == nullptr ? Sight::kUnmoved : Sight::kLost;
    }
    ARROW_RETURN_NOT_OK(read.status());
    if (previous != nullptr && read->version == previous->version) return Sight::kUnmoved;
    ARROW_ASSIGN_OR_RAISE(const Pointer now, DecodePointer(*read->bytes, path_));
    const CommitId& own = next.recent_commits.front();
    if (now.recent_commits.front() == own) {
      *next_version = read->version;
      return Sight::kPublished;
    }
    if (Contains(now, own)) return Sight::kPublished;
    ARROW_ASSIGN_OR_RAISE(const bool is_ancestor, IsAncestor(next, now, stop));
    return is_ancestor ? Sight::kPublished : Sight::kLost;
  }

  /// Whether `next` was published before `now`, which does not list it any more.
  [[nodiscard]] arrow::Result<bool> IsAncestor(const Pointer& next, const Pointer& now,
                                               const StopCondition& stop) const {
    // Versions are consecutive: less than a list ago, it would be on the list.
    const uint64_t version = next.table_version;
    if (now.table_version < version + Pointer::kRecentCommitsMax) return false;
    ARROW_ASSIGN_OR_RAISE(ManifestRoot root, ReadRootOf(*store_, folder_, now, stop));
    while (root.versions.back().version > version) {
      const VersionInfo& oldest = root.versions.back();
      ARROW_ASSIGN_OR_RAISE(ManifestRoot older, ReadRoot(*store_, folder_, oldest.root, stop));
      if (older.version != oldest.version) {
        return MakeError(ErrorKind::kCorrupt, oldest.root.name + ": root of another version");
      }
      root = std::move(older);
    }
    // The history has no gaps (DecodeRoot), so this is the line of `version`.
    const auto line = static_cast<size_t>(root.version - version);
    return root.versions[line].commit == next.recent_commits.front();
  }

  /// Waits before the next try, longer each time; false once there is no time for one.
  [[nodiscard]] bool Pause(int pause) const {
    constexpr int64_t kFirstPauseMs = 20;
    constexpr int kDoublingsMax = 7;
    const int64_t longest = kFirstPauseMs << std::min(pause, kDoublingsMax);
    const auto jitter = options_->random->Below(static_cast<uint64_t>(longest / 2) + 1);
    const milliseconds length(longest / 2 + static_cast<int64_t>(jitter));
    if (Now() + length >= deadline_) return false;
    options_->clock->Sleep(length);
    return true;
  }

  void LogUnclear(const arrow::Status& put, const arrow::Status& look) const {
    if (!IsLogged()) return;
    Log(LogLevel::kWarning, "swap " + path_ + ": no clear answer, the same is sent again" +
                                (put.ok() ? "" : "; put: " + put.message()) +
                                (look.ok() ? "" : "; read back: " + look.message()));
  }

  [[nodiscard]] arrow::Status Unknown(const arrow::Status& put, const arrow::Status& look) const {
    std::string message = "swap " + path_ + ": the store did not say in time whether it took place";
    if (!put.ok()) message += ": put: " + put.message();
    if (!look.ok()) message += ": read back: " + look.message();
    return MakeError(ErrorKind::kCommitUnknown, std::move(message));
  }

  ObjectStore* store_;
  std::string_view folder_;
  std::string path_;
  const PointerStore::Options* options_;
  nanoseconds deadline_;
  std::shared_ptr<arrow::Buffer> bytes_;
};

}  // namespace

PointerStore::PointerStore(std::shared_ptr<ObjectStore> store, std::string folder, Options options)
    : store_(std::move(store)), folder_(std::move(folder)), options_(std::move(options)) {}

arrow::Result<PinnedPointer> PointerStore::Load(const StopCondition& stop) const {
  auto read = Wait(store_->Get(PointerPath(folder_)), stop);
  if (!read.ok()) return ExplainRead(read.status(), folder_);
  return Pin(std::move(*read), folder_);
}

arrow::Result<std::optional<PinnedPointer>> PointerStore::LoadIfChanged(
    const ObjectVersion& known, const StopCondition& stop) const {
  auto read = Wait(store_->GetIfChanged(PointerPath(folder_), known), stop);
  if (!read.ok()) return ExplainRead(read.status(), folder_);
  if (!read->has_value()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(PinnedPointer pinned, Pin(std::move(**read), folder_));
  return pinned;
}

arrow::Result<SwapOutcome> PointerStore::Swap(const PinnedPointer* previous, const Pointer& next,
                                              ObjectVersion* next_version) const {
  ObjectVersion version;
  SwapAttempt attempt(store_.get(), folder_, &options_, next);
  ARROW_ASSIGN_OR_RAISE(const SwapOutcome outcome, attempt.Run(previous, next, &version));
  if (next_version != nullptr) *next_version = std::move(version);
  return outcome;
}

}  // namespace infino
