#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <arrow/result.h>

namespace infino::internal {

/// An advisory lock between processes and threads: flock on a file that is made for it. Released by
/// the destructor, and by the kernel when the process dies.
///
/// The file is opened anew for each lock, as flock excludes only other openings of it. A child
/// forked meanwhile would inherit the opening and with it the lock, and keep it after the parent
/// was killed; a handler therefore closes all lock files in forked children. (Opening the file for
/// each lock does not suffice by itself: the fork may fall between lock and unlock.)
///
/// Lock files may be deleted by whoever holds the lock: a lock counts only if its file still is the
/// one under that name, which is checked after waiting.
class FileLock {
 public:
  /// Waits up to `timeout_ms` for the lock on the file `path`, which is created if absent.
  /// kNotFound if its folder does not exist, kUnavailable if somebody else keeps the lock.
  [[nodiscard]] static arrow::Result<FileLock> Acquire(const std::string& path, int64_t timeout_ms);

  ~FileLock();

  FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  /// The lock if it is free now and its file still has the name `path`.
  [[nodiscard]] static arrow::Result<std::optional<FileLock>> TryAcquire(const std::string& path);

  int descriptor_;
};

}  // namespace infino::internal
