#include "infino/index/text/term_runs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/text/merge_input.h"
#include "infino/index/text/merge_terms.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/term_table_writer.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_merge.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {
namespace {

/// So many neighbours of one level become one run of the next.
constexpr size_t kRunsPerMerge = 16;

/// A merge input holds up to three reads.
constexpr int64_t kReadsPerRun = 3;
constexpr int64_t kReadBytesMin = int64_t{16} << 10;
constexpr int64_t kReadBytesMax = int64_t{1} << 20;

/// The end of a scratch file as a stream, which counts from where it began.
class ScratchSink final : public arrow::io::OutputStream {
 public:
  explicit ScratchSink(ScratchFile& file) : file_(&file), start_(file.size()) {}

  arrow::Status Write(const void* data, int64_t size) override {
    return file_->Append({static_cast<const uint8_t*>(data), static_cast<size_t>(size)});
  }

  arrow::Status Close() override {
    is_closed_ = true;
    return arrow::Status::OK();
  }

  [[nodiscard]] arrow::Result<int64_t> Tell() const override { return file_->size() - start_; }

  [[nodiscard]] bool closed() const override { return is_closed_; }

 private:
  ScratchFile* file_;
  int64_t start_;
  bool is_closed_ = false;
};

}  // namespace

TermRuns::TermRuns(std::shared_ptr<ScratchSpace> scratch, TextIndexHead head, int64_t memory_bytes)
    : scratch_(std::move(scratch)), head_(std::move(head)), memory_bytes_(memory_bytes) {}

TermRuns::~TermRuns() = default;

DocId TermRuns::end() const {
  return runs_.empty() ? 0 : runs_.back().first + runs_.back().row_count;
}

template <typename Write>
arrow::Result<TermRuns::Run> TermRuns::WriteRun(std::span<const uint32_t> lengths,
                                                const Write& write) {
  Run run;
  run.row_count = static_cast<uint32_t>(lengths.size());
  run.place.offset = file_->size();
  ScratchSink sink(*file_);
  TextIndexWriter writer(sink, head_, lengths, {});
  ARROW_RETURN_NOT_OK(writer.Begin());
  ARROW_RETURN_NOT_OK(write(writer));
  ARROW_ASSIGN_OR_RAISE(FinishedTextIndex finished, writer.Finish());
  run.place.length = finished.blob_length;
  ARROW_ASSIGN_OR_RAISE(run.index,
                        TextIndexReader::Open(std::move(finished.open_part), finished.blob_length,
                                              "a text index's run in a scratch file: offset=" +
                                                  std::to_string(run.place.offset)));
  size_bytes_ += run.place.length;
  reader_bytes_ += run.index->memory_bytes();
  return run;
}

arrow::Status TermRuns::Add(TermTable& terms, std::span<const uint32_t> lengths) {
  if (file_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(file_, scratch_->NewFile());
  }
  const DocId first = end();
  ARROW_ASSIGN_OR_RAISE(Run run,
                        WriteRun(lengths.subspan(first), [&terms](TextIndexWriter& writer) {
                          return text::WriteTerms(terms, writer);
                        }));
  terms = TermTable(head_.has_positions);
  run.first = first;
  runs_.push_back(std::move(run));
  // Levels descend, so equal ones are neighbours at the end.
  while (runs_.size() >= kRunsPerMerge &&
         runs_[runs_.size() - kRunsPerMerge].level == runs_.back().level) {
    const std::span<const Run> last = std::span(runs_).last(kRunsPerMerge);
    const DocId merged_first = last.front().first;
    ARROW_ASSIGN_OR_RAISE(Run merged,
                          WriteRun(lengths.subspan(merged_first), [&](TextIndexWriter& writer) {
                            return MergeInto(last, lengths.subspan(merged_first), writer);
                          }));
    merged.first = merged_first;
    merged.level = last.front().level + 1;
    for (const Run& old : last) {
      size_bytes_ -= old.place.length;
      reader_bytes_ -= old.index->memory_bytes();
    }
    runs_.resize(runs_.size() - kRunsPerMerge);
    runs_.push_back(std::move(merged));
  }
  return arrow::Status::OK();
}

arrow::Status TermRuns::WriteTerms(std::span<const uint32_t> lengths,
                                   TextIndexWriter& writer) const {
  return MergeInto(runs_, lengths, writer);
}

arrow::Status TermRuns::MergeInto(std::span<const Run> runs, std::span<const uint32_t> lengths,
                                  TextIndexWriter& writer) const {
  std::vector<BlobRead> reads;
  std::vector<std::unique_ptr<MergeInput>> inputs;
  reads.reserve(runs.size());
  for (const Run& run : runs) {
    reads.emplace_back([this, place = run.place](ByteRange range) {
      range.offset += place.offset;
      return file_->Read(range);
    });
    inputs.push_back(std::make_unique<MergeInput>(
        *run.index, reads.back(), DocMap{.new_docs = {}, .first = run.first - runs.front().first},
        lengths, read_bytes(runs.size())));
  }
  return MergeTerms(inputs, {}, 0, writer);
}

int64_t TermRuns::read_bytes(size_t run_count) const {
  return std::clamp(memory_bytes_ / (kReadsPerRun * static_cast<int64_t>(run_count)), kReadBytesMin,
                    kReadBytesMax);
}

int64_t TermRuns::merge_bytes() const {
  if (runs_.empty()) return 0;
  return kReadsPerRun * static_cast<int64_t>(runs_.size()) * read_bytes(runs_.size());
}

}  // namespace infino::text
