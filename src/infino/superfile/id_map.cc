#include "infino/superfile/id_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"

namespace infino {
namespace {

constexpr size_t kRunsPerBlock = 64;

/// Up to so many runs are kept decoded.
constexpr uint64_t kDecodedRunsMax = 4096;
constexpr uint64_t kRunLengthMax = uint64_t{1} << 32;
constexpr std::string_view kParsedBefore = "id map";

bool Overflows(const RowId& first, uint64_t count) {
  return first.Plus(count) < first;
}

}  // namespace

arrow::Result<IdMap::Run> IdMap::ReadRun(ByteReader& in, const Run& previous) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t high_delta, in.ReadVarint());
  ARROW_ASSIGN_OR_RAISE(const uint64_t low, in.ReadVarint());
  ARROW_ASSIGN_OR_RAISE(const uint64_t length_less_one, in.ReadVarint(kRunLengthMax));
  const RowId after = previous.first.Plus(previous.length);
  Run run{.first_doc = previous.first_doc + previous.length, .length = length_less_one + 1};
  if (high_delta == 0) {
    if (low > std::numeric_limits<uint64_t>::max() - after.low) return in.Corrupt("id map: id");
    run.first = {.high = after.high, .low = after.low + low};
  } else {
    if (high_delta > std::numeric_limits<uint64_t>::max() - after.high) {
      return in.Corrupt("id map: id");
    }
    run.first = {.high = after.high + high_delta, .low = low};
  }
  if (Overflows(run.first, run.length)) return in.Corrupt("id map: id");
  return run;
}

arrow::Result<IdMap> IdMap::Parse(ByteReader& in, int64_t row_count) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t run_count, in.ReadVarint());
  const uint64_t start = in.offset();
  IdMap map;
  uint64_t next_doc = 0;
  RowId next_id;
  for (uint64_t i = 0; i < run_count;) {
    const uint64_t in_block = std::min<uint64_t>(kRunsPerBlock, run_count - i);
    Block block{.run_count = static_cast<uint32_t>(in_block)};
    Run run{.first_doc = next_doc};
    for (uint64_t j = 0; j < in_block; ++j, ++i) {
      ARROW_ASSIGN_OR_RAISE(run, ReadRun(in, run));
      if (run_count <= kDecodedRunsMax) map.decoded_.push_back(run);
      if (run.first < next_id) return in.Corrupt("id map: ids do not ascend");
      next_id = run.first.Plus(run.length);
      if (j == 0) block.first = run;
      if (j == 0) block.offset = in.offset() - start;
      next_doc = run.first_doc + run.length;
      if (next_doc > static_cast<uint64_t>(row_count)) return in.Corrupt("id map: row count");
    }
    map.blocks_.push_back(block);
  }
  if (next_doc != static_cast<uint64_t>(row_count)) return in.Corrupt("id map: row count");
  const uint64_t end = in.offset();
  ARROW_RETURN_NOT_OK(in.Seek(start));
  ARROW_ASSIGN_OR_RAISE(map.runs_, in.ReadBytes(end - start));
  return map;
}

template <typename IsBehind>
IdMap::Run IdMap::Walk(const Block& block, IsBehind is_behind) const {
  ByteReader in(runs_.subspan(block.offset), kParsedBefore);
  Run run = block.first;
  for (uint32_t i = 1; i < block.run_count; ++i) {
    const arrow::Result<Run> next = ReadRun(in, run);
    if (!next.ok() || !is_behind(*next)) break;  // Parse has read them all: they are well formed.
    run = *next;
  }
  return run;
}

RowId IdMap::IdOf(DocId doc) const {
  if (!decoded_.empty()) {
    const auto after =
        std::upper_bound(decoded_.begin(), decoded_.end(), doc,
                         [](DocId value, const Run& run) { return value < run.first_doc; });
    const Run& run = *std::prev(after);
    return run.first.Plus(doc - run.first_doc);
  }
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), doc,
      [](DocId value, const Block& block) { return value < block.first.first_doc; });
  const Run run = Walk(*std::prev(after), [&](const Run& next) { return next.first_doc <= doc; });
  return run.first.Plus(doc - run.first_doc);
}

std::optional<DocId> IdMap::Find(const RowId& id) const {
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), id,
      [](const RowId& value, const Block& block) { return value < block.first.first; });
  if (after == blocks_.begin()) return std::nullopt;
  const Run run = Walk(*std::prev(after), [&](const Run& next) { return next.first <= id; });
  if (id >= run.first.Plus(run.length)) return std::nullopt;
  return static_cast<DocId>(run.first_doc + id.Minus(run.first));
}

int64_t IdMap::memory_bytes() const {
  return static_cast<int64_t>(blocks_.capacity() * sizeof(Block) +
                              decoded_.capacity() * sizeof(Run));
}

arrow::Status IdMapBuilder::Add(const RowId& first, int64_t count) {
  const auto length = static_cast<uint64_t>(count);
  if (length == 0) return arrow::Status::OK();
  if (Overflows(first, length)) {
    return MakeError(ErrorKind::kInvalidArgument, "add rows to a superfile: ids overflow");
  }
  if (!runs_.empty()) {
    IdMap::Run& last = runs_.back();
    const RowId next = last.first.Plus(last.length);
    if (first < next) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "add rows to a superfile: ids are not above those before");
    }
    if (first == next) {
      last.length += length;
      row_count_ += length;
      return arrow::Status::OK();
    }
  }
  runs_.push_back({.first = first, .first_doc = row_count_, .length = length});
  row_count_ += length;
  return arrow::Status::OK();
}

void IdMapBuilder::Encode(ByteWriter& out) const {
  out.WriteVarint(runs_.size());
  RowId after;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const IdMap::Run& run = runs_[i];
    if (i % kRunsPerBlock == 0) after = {};
    const uint64_t high_delta = run.first.high - after.high;
    out.WriteVarint(high_delta);
    out.WriteVarint(high_delta == 0 ? run.first.low - after.low : run.first.low);
    out.WriteVarint(run.length - 1);
    after = run.first.Plus(run.length);
  }
}

RowId IdMapBuilder::max_id() const {
  return runs_.back().first.Plus(runs_.back().length - 1);
}

}  // namespace infino
