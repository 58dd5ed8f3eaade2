#include "infino/storage/file_lock.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/storage/local_files.h"

namespace infino::internal {
namespace {

constexpr std::chrono::milliseconds kPollInterval{1};

/// The lock files that this process has open. Trivially destructible, so that threads which outlive
/// main can still use it. Locks beyond the table's size work, but a forked child keeps them open.
struct OpenLocks {
  std::mutex mutex;
  std::array<int, 256> descriptors{};
  size_t count = 0;
};

OpenLocks& AllOpenLocks() {
  static OpenLocks locks;
  return locks;
}

// The table is locked across a fork, so the child finds it whole.
void BeforeFork() {
  AllOpenLocks().mutex.lock();
}

void AfterForkInParent() {
  AllOpenLocks().mutex.unlock();
}

void AfterForkInChild() {
  OpenLocks& locks = AllOpenLocks();
  for (size_t i = 0; i < locks.count; ++i) close(locks.descriptors.at(i));
  locks.count = 0;
  locks.mutex.unlock();
}

/// Opens a lock file and notes it in the table, with no fork in between. Returns -1 as open does.
int OpenLockFile(const std::string& path) {
  static const int kHandlersInstalled =
      pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
  constexpr mode_t kMode = 0666;
  OpenLocks& locks = AllOpenLocks();
  const std::lock_guard guard(locks.mutex);
  if (kHandlersInstalled != 0) {
    errno = kHandlersInstalled;
    return -1;
  }
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0 && locks.count < locks.descriptors.size()) {
    locks.descriptors.at(locks.count++) = descriptor;
  }
  return descriptor;
}

void CloseLockFile(int descriptor) {
  OpenLocks& locks = AllOpenLocks();
  const std::lock_guard guard(locks.mutex);
  for (size_t i = 0; i < locks.count; ++i) {
    if (locks.descriptors.at(i) != descriptor) continue;
    locks.descriptors.at(i) = locks.descriptors.at(--locks.count);
    break;
  }
  close(descriptor);
}

bool IsStillNamed(int descriptor, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  // Unlocked by name, not just closed: a child that is being forked may hold a copy for a moment.
  flock(descriptor_, LOCK_UN);
  CloseLockFile(descriptor_);
}

arrow::Result<std::optional<FileLock>> FileLock::TryAcquire(const std::string& path) {
  const int descriptor = OpenLockFile(path);
  if (descriptor < 0) return ErrnoError(errno, "open", path);
  FileLock lock(descriptor);
  int locked = -1;
  do {
    locked = flock(descriptor, LOCK_EX | LOCK_NB);
  } while (locked != 0 && errno == EINTR);
  if (locked == 0) {
    if (!IsStillNamed(descriptor, path)) return std::optional<FileLock>();
    return std::optional<FileLock>(std::move(lock));
  }
  if (errno == EWOULDBLOCK) return std::optional<FileLock>();
  return ErrnoError(errno, "lock", path);
}

arrow::Result<FileLock> FileLock::Acquire(const std::string& path, int64_t timeout_ms) {
  // Polled rather than waited for, so that a stopped process that has the lock makes the others
  // fail, not hang.
  const std::shared_ptr<Clock> clock = SystemClock();
  const std::chrono::nanoseconds deadline =
      clock->Monotonic() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(std::optional<FileLock> lock, TryAcquire(path));
    if (lock.has_value()) return *std::move(lock);
    if (clock->Monotonic() >= deadline) break;
    clock->Sleep(kPollInterval);
  }
  return MakeError(ErrorKind::kUnavailable, "cannot lock " + path +
                                                ": somebody else has kept the lock for " +
                                                std::to_string(timeout_ms) + " ms");
}

}  // namespace infino::internal
