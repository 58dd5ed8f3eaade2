#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {

/// What a builder has put out of memory: runs in a scratch file, each a text index, with its
/// checksums, over the next consecutive documents. In the end they are merged into one.
///
/// Where many runs of a size stand side by side they become one, so that there are never more than
/// a few dozen, each written again once or twice. Single-threaded; useless after a failure, which
/// is that of the scratch space or kCorrupt where that does not give back what was written.
class TermRuns {
 public:
  /// `memory_bytes`: about what merging may hold of the runs.
  TermRuns(std::shared_ptr<ScratchSpace> scratch, TextIndexHead head, int64_t memory_bytes);

  TermRuns(const TermRuns&) = delete;
  TermRuns& operator=(const TermRuns&) = delete;
  TermRuns(TermRuns&&) = delete;
  TermRuns& operator=(TermRuns&&) = delete;
  ~TermRuns();

  [[nodiscard]] bool empty() const { return runs_.empty(); }

  /// The document after the last run's, where the next run begins.
  [[nodiscard]] DocId end() const;

  /// Writes `terms` as the next run, and makes them a new table without terms. Their documents
  /// count from end(); `lengths` are those of all documents.
  [[nodiscard]] arrow::Status Add(TermTable& terms, std::span<const uint32_t> lengths);

  /// Writes the terms of all runs. `lengths` are those of all documents, which are all in runs.
  [[nodiscard]] arrow::Status WriteTerms(std::span<const uint32_t> lengths,
                                         TextIndexWriter& writer) const;

  /// The file the runs are in, which is there once there is one: WriteTerms leaves it alone, so
  /// that its writer may put there what does not belong into memory.
  [[nodiscard]] ScratchFile* file() const { return file_.get(); }

  /// What is held of the runs, and about what merging them will hold on top.
  [[nodiscard]] int64_t memory_bytes() const { return reader_bytes_; }

  [[nodiscard]] int64_t merge_bytes() const;

  /// The bytes of the runs, which is about what an index of all of them takes.
  [[nodiscard]] int64_t size_bytes() const { return size_bytes_; }

 private:
  struct Run {
    DocId first = 0;
    uint32_t row_count = 0;
    uint32_t level = 0;  ///< How often its documents were merged.
    ByteRange place;     ///< In the file.
    std::shared_ptr<const TextIndexReader> index;
  };

  /// Writes a run of what `write` gives the writer.
  template <typename Write>
  [[nodiscard]] arrow::Result<Run> WriteRun(std::span<const uint32_t> lengths, const Write& write);

  [[nodiscard]] arrow::Status MergeInto(std::span<const Run> runs,
                                        std::span<const uint32_t> lengths,
                                        TextIndexWriter& writer) const;
  [[nodiscard]] int64_t read_bytes(size_t run_count) const;

  std::shared_ptr<ScratchSpace> scratch_;
  TextIndexHead head_;
  int64_t memory_bytes_;
  std::unique_ptr<ScratchFile> file_;
  std::vector<Run> runs_;
  int64_t reader_bytes_ = 0;
  int64_t size_bytes_ = 0;
};

}  // namespace infino::text
