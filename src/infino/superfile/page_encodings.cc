#include "infino/superfile/page_encodings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"

namespace infino {
namespace {

/// Differences are packed in groups of this many, at least.
constexpr size_t kGroup = 32;

constexpr uint32_t kByteBits = 8;
constexpr uint32_t kWordBits = 64;

uint64_t FromZigzag(uint64_t raw) {
  return (raw >> 1) ^ (~(raw & 1) + 1);
}

/// Appends `count` times the value of a run.
arrow::Status ReadRun(ByteReader& in, uint32_t width, size_t count, std::vector<uint32_t>& out) {
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, in.ReadBytes((width + kByteBits - 1) / kByteBits));
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint32_t{bytes[i]} << (kByteBits * i);
  if (width < kPackedWidthMax && value >> width != 0) return in.Corrupt("runs: value");
  out.insert(out.end(), count, value);
  return arrow::Status::OK();
}

/// The start of a block of differences.
struct DeltaHead {
  size_t group_count = 0;  ///< Groups, each of one width, in a block.
  size_t group_length = 0;
  size_t total = 0;
  uint64_t first = 0;
};

arrow::Result<DeltaHead> ReadDeltaHead(ByteReader& in) {
  constexpr uint64_t kBlockMax = 1 << 16;
  DeltaHead head;
  ARROW_ASSIGN_OR_RAISE(const uint64_t block_length, in.ReadVarint(kBlockMax));
  ARROW_ASSIGN_OR_RAISE(head.group_count, in.ReadVarint(kBlockMax));
  ARROW_ASSIGN_OR_RAISE(head.total, in.ReadVarint());
  ARROW_ASSIGN_OR_RAISE(const uint64_t first, in.ReadVarint());
  head.first = FromZigzag(first);
  if (head.group_count == 0 || block_length % (head.group_count * kGroup) != 0 ||
      block_length == 0) {
    return in.Corrupt("differences: block length");
  }
  head.group_length = block_length / head.group_count;
  return head;
}

/// The number of `width` bits, more than 0, that starts at that bit.
uint64_t NumberAt(ByteSpan packed, uint32_t width, uint64_t bit) {
  const uint64_t first = bit / kByteBits;
  const uint64_t shift = bit % kByteBits;
  uint64_t value = 0;
  if (packed.size() - first >= sizeof(uint64_t)) {
    value = LoadU64(packed.data() + first) >> shift;
    if (shift + width > kWordBits) {
      value |= uint64_t{packed[first + sizeof(uint64_t)]} << (kWordBits - shift);
    }
  } else {
    // So near the end, all bits that are left fit into a word.
    for (uint64_t at = first; at < packed.size(); ++at) {
      value |= uint64_t{packed[at]} << (kByteBits * (at - first));
    }
    value >>= shift;
  }
  return width == kWordBits ? value : value & ((uint64_t{1} << width) - 1);
}

/// Numbers of a group, whose differences have `width` bits above `minimum`, behind `previous`.
void AddGroup(ByteSpan packed, uint32_t width, uint64_t minimum, uint64_t previous,
              std::span<uint64_t> out) {
  uint64_t sum = previous;
  if (width == 0) {
    for (uint64_t& number : out) number = sum += minimum;
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = sum += minimum + NumberAt(packed, width, i * width);
  }
}

}  // namespace

arrow::Status ReadRuns(ByteReader& in, uint32_t width, size_t count, std::vector<uint32_t>& out) {
  constexpr size_t kPackedGroup = 8;
  out.clear();
  while (out.size() < count) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t head, in.ReadVarint());
    const uint64_t length = head >> 1;
    if (length == 0) return in.Corrupt("runs: empty run");
    const size_t wanted = count - out.size();
    if ((head & 1) == 0) {
      ARROW_RETURN_NOT_OK(ReadRun(in, width, std::min<size_t>(wanted, length), out));
      continue;
    }
    const uint64_t groups = std::min<uint64_t>(length, (wanted + kPackedGroup - 1) / kPackedGroup);
    ARROW_ASSIGN_OR_RAISE(const ByteSpan packed, in.ReadBytes(groups * width));
    const size_t taken = std::min<size_t>(wanted, groups * kPackedGroup);
    out.resize(out.size() + taken);
    // Groups are short: with what follows them, most numbers are read by a whole word.
    const ByteSpan with_rest(packed.data(), packed.size() + in.remaining());
    UnpackArray(with_rest, width, std::span(out).last(taken));
  }
  return arrow::Status::OK();
}

arrow::Status ReadDeltas(ByteReader& in, size_t count, size_t limit, std::vector<uint64_t>& out) {
  out.clear();
  ARROW_ASSIGN_OR_RAISE(const DeltaHead head, ReadDeltaHead(in));
  if (head.total != count) return in.Corrupt("differences: count");
  if (limit == 0) return arrow::Status::OK();
  out.resize(limit);
  out[0] = head.first;
  size_t done = 1;
  while (done < limit) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t minimum, in.ReadVarint());
    ARROW_ASSIGN_OR_RAISE(const ByteSpan widths, in.ReadBytes(head.group_count));
    for (const uint8_t width : widths) {
      if (done == limit) break;  // Groups that would be empty are not there.
      if (width > kWordBits) return in.Corrupt("differences: width");
      ARROW_ASSIGN_OR_RAISE(const ByteSpan packed,
                            in.ReadBytes(head.group_length * width / kByteBits));
      const size_t taken = std::min(head.group_length, limit - done);
      AddGroup(packed, width, FromZigzag(minimum), out[done - 1],
               std::span(out).subspan(done, taken));
      done += taken;
    }
  }
  return arrow::Status::OK();
}

}  // namespace infino
