#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <arrow/status.h>

namespace infino {

/// Which parts of an upload have arrived: what stores check by the contract of ObjectUpload.
/// Thread-safe.
class SentParts {
 public:
  /// `path` is named in errors.
  explicit SentParts(std::string path) : path_(std::move(path)) {}

  /// kInvalidArgument unless there may be such a part.
  [[nodiscard]] arrow::Status Check(int64_t number, int64_t size) const;

  /// REQUIRES: Check allowed it.
  void Add(int64_t number, int64_t size);

  /// kInvalidArgument unless parts 0 to `part_count` - 1 and no others are there, all but the last
  /// of full length.
  [[nodiscard]] arrow::Status CheckAll(int64_t part_count) const;

  void Clear();

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> sizes_;
};

}  // namespace infino
