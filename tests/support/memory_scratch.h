#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/scratch.h"
#include "infino/error.h"

namespace infino {

/// Scratch files in memory that count what is done to them and fail where a test says so.
class MemoryScratch final : public ScratchSpace {
 public:
  struct Plan {
    int64_t files_max = INT64_MAX;
    int64_t bytes_max = INT64_MAX;  ///< Of all files: a disk that is full.
    int64_t reads_max = INT64_MAX;
    int64_t flipped_read = -1;  ///< The number of the read whose bytes are damaged, from 0.
  };

  MemoryScratch() = default;

  explicit MemoryScratch(Plan plan) : plan_(plan) {}

  arrow::Result<std::unique_ptr<ScratchFile>> NewFile() override {
    if (files_ == plan_.files_max) {
      return MakeError(ErrorKind::kUnavailable, "cannot make a file in the scratch folder /memory");
    }
    ++files_;
    return std::make_unique<File>(*this);
  }

  [[nodiscard]] int64_t files() const { return files_; }

  [[nodiscard]] int64_t bytes() const { return bytes_; }

  [[nodiscard]] int64_t reads() const { return reads_; }

  [[nodiscard]] int64_t open_files() const { return open_files_; }

 private:
  class File final : public ScratchFile {
   public:
    explicit File(MemoryScratch& space) : space_(space) { ++space_.open_files_; }

    ~File() override { --space_.open_files_; }

    File(const File&) = delete;
    File& operator=(const File&) = delete;

    arrow::Status Append(ByteSpan bytes) override {
      if (space_.bytes_ + static_cast<int64_t>(bytes.size()) > space_.plan_.bytes_max) {
        return MakeError(ErrorKind::kResourceExhausted,
                         "cannot write to the scratch folder /memory: it is full");
      }
      space_.bytes_ += static_cast<int64_t>(bytes.size());
      content_.insert(content_.end(), bytes.begin(), bytes.end());
      return arrow::Status::OK();
    }

    [[nodiscard]] arrow::Result<std::shared_ptr<arrow::Buffer>> Read(
        ByteRange range) const override {
      if (range.offset < 0 || range.length < 0 || range.end() > size()) {
        return MakeError(ErrorKind::kCorrupt, "read past the end of a scratch file");
      }
      const int64_t number = space_.reads_++;
      if (number >= space_.plan_.reads_max) {
        return MakeError(ErrorKind::kUnavailable, "cannot read the scratch folder /memory");
      }
      const auto begin = content_.begin() + range.offset;
      std::vector<uint8_t> copy(begin, begin + range.length);
      if (number == space_.plan_.flipped_read && !copy.empty()) copy[copy.size() / 2] ^= 1;
      return ToBuffer(std::move(copy));
    }

    [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(content_.size()); }

   private:
    MemoryScratch& space_;
    std::vector<uint8_t> content_;
  };

  Plan plan_;
  std::atomic<int64_t> files_ = 0;
  std::atomic<int64_t> open_files_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> reads_ = 0;
};

}  // namespace infino
