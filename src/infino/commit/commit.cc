#include "infino/commit/commit.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/commit/staging.h"
#include "infino/commit/table_writer.h"
#include "infino/common/failpoint.h"
#include "infino/common/ids.h"
#include "infino/common/log.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/log.h"
#include "infino/manifest/manifest_change.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "infino/supertable/vector_spaces.h"

namespace infino {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Half of the grace that staged objects have before a garbage collection may take them.
constexpr nanoseconds kAgeMax = std::chrono::hours(12);

/// The pause after the first lost swap is at most this, and doubles up to the longest.
constexpr int64_t kFirstPauseMs = 8;
constexpr int64_t kLongestPauseMs = 500;

/// One commit on its way, over all its tries.
class Commit {
 public:
  Commit(const WriterEnvironment& environment, const CommitTarget& target, CommitRequest request,
         const StopCondition& stop)
      : environment_(&environment),
        target_(&target),
        request_(std::move(request)),
        stop_(&stop),
        stamp_{.commit = environment.random->NextId<CommitId>(),
               .unix_ms = environment.clock->UnixMs()},
        deadline_(environment.clock->Monotonic() + milliseconds(environment.commit_timeout_ms)) {}

  /// Tries until the change is published.
  arrow::Result<CommitOutcome> Run();

  /// Whether a swap that may have taken effect ended without a clear answer.
  [[nodiscard]] bool may_be_published() const { return may_be_published_; }

 private:
  /// One try on `base`: the version it published, or 0 if it lost.
  arrow::Result<uint64_t> Try(const Snapshot& base);
  arrow::Status Stage(const NextVersion& next);
  arrow::Status CheckAge() const;
  arrow::Status Pause(int64_t lost_count);

  const WriterEnvironment* environment_;
  const CommitTarget* target_;
  CommitRequest request_;
  const StopCondition* stop_;
  CommitStamp stamp_;
  nanoseconds deadline_;
  std::set<std::string> staged_;  ///< Manifest objects, by name.
  bool may_be_published_ = false;
};

arrow::Result<CommitOutcome> Commit::Run() {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<const Snapshot> base, target_->loader->Current(*stop_));
  for (int64_t lost_count = 1;; ++lost_count) {
    if (request_.fit) {
      ARROW_ASSIGN_OR_RAISE(const Fit fit, request_.fit(base, request_.change));
      if (fit != Fit::kFits) return CommitOutcome{.fit = fit, .version = base->version()};
    }
    ARROW_ASSIGN_OR_RAISE(const uint64_t version, Try(*base));
    if (version != 0) return CommitOutcome{.fit = Fit::kFits, .version = version};
    ARROW_RETURN_NOT_OK(Pause(lost_count));
    ARROW_ASSIGN_OR_RAISE(base, target_->loader->Newest(*stop_));
  }
}

arrow::Result<uint64_t> Commit::Try(const Snapshot& base) {
  // History reads in time order, also where the clocks of its writers differ.
  CommitStamp stamp = stamp_;
  stamp.unix_ms = std::max(stamp.unix_ms, base.root.unix_ms);
  const BaseVersion base_version = BaseOf(base);
  ARROW_ASSIGN_OR_RAISE(NextVersion next, Apply(base_version, request_.change, stamp));
  INFINO_FAILPOINT("commit.applied");
  ARROW_RETURN_NOT_OK(Stage(next));
  INFINO_FAILPOINT("commit.staged");
  ARROW_RETURN_NOT_OK(Verify(&base_version, next, request_.written));
  ARROW_ASSIGN_OR_RAISE(VectorSpaces spaces,
                        MakeSpaces(next.root.schema, next.points, base.spaces));
  ARROW_RETURN_NOT_OK(CheckAge());
  ARROW_RETURN_NOT_OK(CheckStop(*stop_));
  PinnedPointer pinned{.pointer = NextPointer(&base.pinned.pointer, next), .version = {}};
  may_be_published_ = true;
  ARROW_ASSIGN_OR_RAISE(const SwapOutcome outcome,
                        target_->pointer->Swap(&base.pinned, pinned.pointer, &pinned.version));
  INFINO_FAILPOINT("commit.swapped");
  if (outcome == SwapOutcome::kLost) {
    may_be_published_ = false;
    if (IsLogged()) {
      Log(LogLevel::kInfo, "commit to " + target_->folder + ": another one came first at version " +
                               std::to_string(next.root.version) + "; it starts over from there");
    }
    return 0;
  }
  const uint64_t version = next.root.version;
  if (!pinned.version.token.empty()) {
    target_->loader->Publish(MakeSnapshot(std::move(pinned), std::move(next.root),
                                          {.parts = std::move(next.parts),
                                           .points = std::move(next.points),
                                           .spaces = std::move(spaces)}));
  } else {
    // Published, and others have gone on from there: have the loader look. If it can't now, it
    // will at the next query; the commit stands either way.
    static_cast<void>(target_->loader->Newest(*stop_).ok());
  }
  return version;
}

arrow::Status Commit::Stage(const NextVersion& next) {
  std::vector<StagedObject> objects = std::move(request_.unstaged);
  request_.unstaged.clear();
  std::set<std::string> names = staged_;
  for (const NamedObject& object : next.objects) {
    if (!names.insert(object.ref.name).second) continue;
    objects.push_back(
        {.path = ObjectPath(target_->folder, object.ref.name), .bytes = object.bytes});
  }
  ARROW_RETURN_NOT_OK(StageAll(*environment_->store, std::move(objects), *stop_));
  staged_ = std::move(names);
  return arrow::Status::OK();
}

arrow::Status Commit::CheckAge() const {
  if (environment_->clock->Monotonic() - request_.started <= kAgeMax) return arrow::Status::OK();
  return MakeError(ErrorKind::kConflict,
                   "commit to " + target_->folder +
                       ": it took more than 12 hours, after which its files may be collected as "
                       "left-overs; write fewer rows at once");
}

arrow::Status Commit::Pause(int64_t lost_count) {
  const int64_t doublings = std::min<int64_t>(lost_count - 1, 10);
  const int64_t longest_ms = std::min(kFirstPauseMs << doublings, kLongestPauseMs);
  const auto pause_ms =
      static_cast<int64_t>(environment_->random->Below(static_cast<uint64_t>(longest_ms) + 1));
  const nanoseconds until = environment_->clock->Monotonic() + milliseconds(pause_ms);
  if (until >= deadline_) {
    return MakeError(ErrorKind::kConflict, "commit to " + target_->folder + ": other commits won " +
                                               std::to_string(lost_count) +
                                               " times in a row; commit_timeout_ms=" +
                                               std::to_string(environment_->commit_timeout_ms));
  }
  constexpr auto kStep = milliseconds(50);
  for (nanoseconds now = environment_->clock->Monotonic(); now < until;
       now = environment_->clock->Monotonic()) {
    ARROW_RETURN_NOT_OK(CheckStop(*stop_));
    const auto left = std::chrono::ceil<milliseconds>(until - now);
    environment_->clock->Sleep(std::min<milliseconds>(left, kStep));
  }
  return CheckStop(*stop_);
}

}  // namespace

arrow::Result<CommitOutcome> CommitChange(const WriterEnvironment& environment,
                                          const CommitTarget& target, CommitRequest request,
                                          const StopCondition& stop) {
  std::vector<std::string> paths;
  paths.reserve(request.written.size());
  for (const WrittenSuperfile& superfile : request.written) {
    paths.push_back(SuperfilePath(target.folder, superfile.id));
  }
  Commit commit(environment, target, std::move(request), stop);
  arrow::Result<CommitOutcome> outcome = commit.Run();
  const bool is_published = outcome.ok() ? outcome->fit == Fit::kFits : commit.may_be_published();
  if (!is_published) Discard(*environment.store, paths);
  return outcome;
}

}  // namespace infino
