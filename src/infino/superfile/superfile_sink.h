#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/scratch.h"
#include "infino/superfile/block_checksums.h"

namespace infino {

/// What a superfile is written to: memory, and from some length on a scratch file, so that a long
/// file is never in memory as a whole. Hashes and checksums are made on the way, for nothing is
/// read back.
///
/// A file is the body, then regions, then the rest. Single-threaded; of no use after a failure,
/// which is that of the scratch space or of memory.
class SuperfileSink final : public arrow::io::OutputStream {
 public:
  /// A region: what was written since the last one ended, or the body.
  struct Region {
    ByteRange place;
    uint32_t checksum = 0;  ///< crc32c.
  };

  /// The file: in memory or in a scratch file, whichever is there.
  struct Finished {
    std::shared_ptr<arrow::Buffer> bytes;
    std::shared_ptr<const ScratchFile> file;
    int64_t size = 0;
    ContentHash hash;
  };

  /// A file of more than `memory_bytes` goes to `scratch`; null: none does.
  SuperfileSink(std::shared_ptr<ScratchSpace> scratch, int64_t memory_bytes);

  /// Makes room for the first bytes. Called first.
  [[nodiscard]] arrow::Status Open();

  arrow::Status Write(const void* data, int64_t size) override;

  arrow::Status Close() override;

  [[nodiscard]] arrow::Result<int64_t> Tell() const override { return size_; }

  [[nodiscard]] bool closed() const override { return is_closed_; }

  [[nodiscard]] int64_t size() const { return size_; }

  /// What is written from here on stays in memory until Release.
  void Hold() { held_from_ = size_; }

  /// What was written since Hold, until Release or the next write. REQUIRES: Hold was called.
  [[nodiscard]] std::shared_ptr<arrow::Buffer> held() const;

  [[nodiscard]] arrow::Status Release();

  /// Ends the body, and gives the checksums of its blocks. The first region starts here.
  [[nodiscard]] arrow::Result<BlockChecksums> EndBody();

  [[nodiscard]] Region EndRegion();

  /// Ends the file. Called once, last.
  [[nodiscard]] arrow::Result<Finished> Finish();

  /// Of the file's bytes, what is in memory, or room for them.
  [[nodiscard]] int64_t memory_bytes() const {
    return file_ == nullptr ? size_ : buffer_->capacity();
  }

 private:
  [[nodiscard]] arrow::Status Reserve(int64_t size);
  [[nodiscard]] arrow::Status SpillIfLong();
  [[nodiscard]] arrow::Status Spill();

  /// Takes the bytes that were written since the last time into hash and checksums.
  void Settle();

  [[nodiscard]] ByteSpan Since(int64_t offset) const;

  const std::shared_ptr<ScratchSpace> scratch_;
  const int64_t memory_max_;
  std::shared_ptr<arrow::ResizableBuffer> buffer_;  ///< From start_ on, with room behind.
  std::shared_ptr<ScratchFile> file_;               ///< Up to start_, once it is there.
  int64_t start_ = 0;
  int64_t size_ = 0;     ///< Of the file so far.
  int64_t settled_ = 0;  ///< Up to here hashed.
  int64_t region_start_ = 0;
  std::optional<int64_t> held_from_;
  bool is_body_ = true;
  bool is_closed_ = false;
  BlockChecksumsBuilder blocks_;
  uint32_t region_checksum_;
  ContentHasher hasher_;
};

}  // namespace infino
