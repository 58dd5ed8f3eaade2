#include "infino/index/vector/encoded_runs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

constexpr size_t kChunkRows = 1024;

}  // namespace

/// Consecutive documents, ordered by point and then by document. In memory they stand as they came,
/// in a file in their order.
struct EncodedRuns::Run {
  /// So many rows' codes and rows, so that growing moves nothing.
  struct Chunk {
    std::vector<uint8_t> codes;
    std::vector<uint8_t> rows;
  };

  /// The bytes of one row, of `size` a row.
  [[nodiscard]] ByteSpan CodeOf(uint32_t row, size_t size) const {
    return ByteSpan(chunks[row / kChunkRows].codes).subspan(row % kChunkRows * size, size);
  }

  [[nodiscard]] ByteSpan RowOf(uint32_t row, size_t size) const {
    return ByteSpan(chunks[row / kChunkRows].rows).subspan(row % kChunkRows * size, size);
  }

  DocId first_doc = 0;
  uint32_t count = 0;
  std::vector<uint32_t> begins;  // by key of a point: where its rows begin in the order; one more

  std::vector<uint32_t> keys;   // of each row, in memory
  std::vector<uint32_t> order;  // in memory: which row stands at a place of the order
  std::vector<Chunk> chunks;    // in memory

  std::unique_ptr<ScratchFile> file;  // documents, codes, rows, each in order
};

EncodedRuns::EncodedRuns(const VectorSpace& space)
    : space_(space),
      record_bytes_(CodeRecordBytes(space.column().dimension)),
      row_bytes_(RowBytesOf(space.column())),
      list_ranks_(space.list_count()) {
  std::vector<size_t> numbers(space.list_count());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  std::ranges::sort(numbers, {}, [&](size_t number) { return space.list(number).id(); });
  for (size_t rank = 0; rank < numbers.size(); ++rank) {
    list_ranks_[numbers[rank]] = rank;
    all_lists_.push_back(space.list(numbers[rank]).id());
  }
  StartRun();
}

EncodedRuns::~EncodedRuns() = default;

/// Points in the order of their clusters.
size_t EncodedRuns::KeyOf(PointRef point) const {
  return list_ranks_[point.list] * kPointsMax + point.place;
}

size_t EncodedRuns::PartBytes(Part part) const {
  if (part == Part::kDocs) return sizeof(DocId);
  return part == Part::kCodes ? record_bytes_ : row_bytes_;
}

void EncodedRuns::StartRun() {
  runs_.push_back(std::make_unique<Run>());
  runs_.back()->first_doc = row_count_;
}

EncodedRuns::Slot EncodedRuns::Append(PointRef point) {
  Run& run = *runs_.back();
  const size_t place = run.count % kChunkRows;
  if (place == 0) {
    run.chunks.push_back({.codes = std::vector<uint8_t>(kChunkRows * record_bytes_),
                          .rows = std::vector<uint8_t>(kChunkRows * row_bytes_)});
  }
  run.keys.push_back(static_cast<uint32_t>(KeyOf(point)));
  ++run.count;
  ++row_count_;
  Run::Chunk& chunk = run.chunks.back();
  return {.record = std::span(chunk.codes).subspan(place * record_bytes_, record_bytes_),
          .row = std::span(chunk.rows).subspan(place * row_bytes_, row_bytes_)};
}

int64_t EncodedRuns::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& run : runs_) {
    bytes += run->begins.capacity() * sizeof(uint32_t) +
             run->keys.capacity() * 2 * sizeof(uint32_t) +
             run->chunks.size() * kChunkRows * (record_bytes_ + row_bytes_);
  }
  return static_cast<int64_t>(bytes);
}

/// By counting: rows of one point keep the order in which they came.
void EncodedRuns::OrderRun() {
  Run& run = *runs_.back();
  run.begins.assign(space_.list_count() * kPointsMax + 1, 0);
  for (const uint32_t key : run.keys) ++run.begins[key + 1];
  std::partial_sum(run.begins.begin(), run.begins.end(), run.begins.begin());
  std::vector<uint32_t> next(run.begins.begin(), run.begins.end() - 1);
  run.order.resize(run.count);
  for (uint32_t row = 0; row < run.count; ++row) run.order[next[run.keys[row]]++] = row;
}

arrow::Status EncodedRuns::Spill(ScratchSpace& scratch) {
  Run& run = *runs_.back();
  if (run.count < kChunkRows) return arrow::Status::OK();
  OrderRun();
  ARROW_ASSIGN_OR_RAISE(auto file, scratch.NewFile());
  constexpr size_t kBatchBytes = size_t{1} << 20;
  ByteWriter out;
  const auto write = [&](bool last) -> arrow::Status {
    if (out.size() < kBatchBytes && !last) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(file->Append(out.bytes()));
    out.Clear();
    return arrow::Status::OK();
  };
  for (const uint32_t row : run.order) {
    out.WriteU32(run.first_doc + row);
    ARROW_RETURN_NOT_OK(write(false));
  }
  for (const uint32_t row : run.order) {
    out.WriteBytes(run.CodeOf(row, record_bytes_));
    ARROW_RETURN_NOT_OK(write(false));
  }
  for (const uint32_t row : run.order) {
    out.WriteBytes(run.RowOf(row, row_bytes_));
    ARROW_RETURN_NOT_OK(write(false));
  }
  ARROW_RETURN_NOT_OK(write(true));
  spilled_bytes_ += file->size();
  run.file = std::move(file);
  run.keys = {};
  run.order = {};
  run.chunks = {};
  StartRun();
  return arrow::Status::OK();
}

void EncodedRuns::Seal() {
  OrderRun();
  const size_t keys = space_.list_count() * kPointsMax;
  uint32_t position = 0;
  std::vector<uint8_t> list_numbers(space_.list_count());
  for (size_t key = 0; key < keys; ++key) {
    const size_t rank = key / kPointsMax;
    const uint32_t begin = position;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const Run& run = *runs_[i];
      const uint32_t count = run.begins[key + 1] - run.begins[key];
      if (count == 0) continue;
      stretches_.push_back({.run = i, .begin = run.begins[key], .count = count});
      stretch_begins_.push_back(position);
      position += count;
    }
    if (position == begin) continue;
    if (lists_.empty() || lists_.back() != all_lists_[rank]) {
      list_numbers[rank] = static_cast<uint8_t>(lists_.size());
      lists_.push_back(all_lists_[rank]);
    }
    clusters_.push_back(
        {.point = {.list = list_numbers[rank], .place = static_cast<uint8_t>(key % kPointsMax)},
         .begin = begin,
         .end = position});
  }
}

arrow::Status EncodedRuns::ReadStretch(Part part, const Stretch& stretch, std::span<uint8_t> out) {
  const Run& run = *runs_[stretch.run];
  const size_t size = PartBytes(part);
  if (run.file != nullptr) {
    size_t base = 0;
    if (part != Part::kDocs) base += size_t{run.count} * sizeof(DocId);
    if (part == Part::kRows) base += size_t{run.count} * record_bytes_;
    ARROW_ASSIGN_OR_RAISE(
        const std::shared_ptr<arrow::Buffer> bytes,
        run.file->Read({.offset = static_cast<int64_t>(base + stretch.begin * size),
                        .length = static_cast<int64_t>(stretch.count * size)}));
    std::copy_n(bytes->data(), out.size(), out.begin());
    return arrow::Status::OK();
  }
  for (uint32_t i = 0; i < stretch.count; ++i) {
    const uint32_t row = run.order[stretch.begin + i];
    const auto to = out.subspan(i * size, size);
    if (part == Part::kDocs) {
      const DocId doc = run.first_doc + row;
      for (size_t b = 0; b < size; ++b) to[b] = static_cast<uint8_t>(doc >> (8 * b));
    } else {
      std::ranges::copy(part == Part::kCodes ? run.CodeOf(row, size) : run.RowOf(row, size),
                        to.begin());
    }
  }
  return arrow::Status::OK();
}

arrow::Status EncodedRuns::ReadPart(Part part, uint32_t begin, std::span<uint8_t> out) {
  const size_t size = PartBytes(part);
  const auto end = static_cast<uint32_t>(begin + out.size() / size);
  auto at = static_cast<size_t>(std::ranges::upper_bound(stretch_begins_, begin) -
                                stretch_begins_.begin()) -
            1;
  uint32_t position = begin;
  for (; position < end; ++at) {
    const Stretch& whole = stretches_[at];
    const uint32_t skipped = position - stretch_begins_[at];
    const uint32_t count = std::min(whole.count - skipped, end - position);
    ARROW_RETURN_NOT_OK(
        ReadStretch(part, {.run = whole.run, .begin = whole.begin + skipped, .count = count},
                    out.subspan((position - begin) * size, count * size)));
    position += count;
  }
  return arrow::Status::OK();
}

arrow::Status EncodedRuns::ReadDocs(uint32_t begin, std::span<DocId> docs) {
  std::vector<uint8_t> bytes(docs.size() * sizeof(DocId));
  ARROW_RETURN_NOT_OK(ReadPart(Part::kDocs, begin, bytes));
  for (size_t i = 0; i < docs.size(); ++i) docs[i] = LoadU32(bytes.data() + i * sizeof(DocId));
  return arrow::Status::OK();
}

arrow::Status EncodedRuns::ReadCodes(uint32_t begin, std::span<uint8_t> records) {
  return ReadPart(Part::kCodes, begin, records);
}

arrow::Status EncodedRuns::ReadRows(uint32_t begin, std::span<uint8_t> rows) {
  return ReadPart(Part::kRows, begin, rows);
}

}  // namespace infino::vector
