#include "infino/codec/fst_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_format.h"
#include "infino/common/bytes.h"
#include "infino/error.h"

namespace infino {
namespace {

constexpr size_t kRegistryBuckets = size_t{1} << 13;
constexpr size_t kBucketCells = 2;
constexpr size_t kSizeMax = std::numeric_limits<uint32_t>::max();

/// The largest a state can be: head, count, output, and 256 transitions.
constexpr size_t kStateBytesMax = 1 + 1 + 10 + 1 + 256 * (1 + 4 + 8);

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32);
}

uint32_t BytesFor(uint64_t value) {
  return std::max(1U, (static_cast<uint32_t>(std::bit_width(value)) + 7) / 8);
}

void WriteSized(ByteWriter& out, uint64_t value, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i) out.WriteU8(static_cast<uint8_t>(value >> (8 * i)));
}

size_t CommonPrefix(std::string_view a, std::string_view b) {
  const size_t shorter = std::min(a.size(), b.size());
  const auto end =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin());
  return static_cast<size_t>(end.first - a.begin());
}

}  // namespace

void FstBuilder::OpenState::Clear() {
  is_final = false;
  final_output = 0;
  transitions.clear();
}

void FstBuilder::OpenState::PushOutput(uint64_t output) {
  if (output == 0) return;
  for (FstTransition& transition : transitions) transition.output += output;
  if (is_final) final_output += output;
}

FstBuilder::FstBuilder() {
  Reset();
}

void FstBuilder::Reset() {
  out_.Clear();
  out_.WriteU32(kFstMagic);
  out_.WriteU32(kFstVersion);
  out_.WriteU64(0);  // number of keys
  out_.WriteU32(0);  // address of the root
  out_.WriteU32(0);  // size
  assert(out_.size() == kFstHeaderBytes);
  last_key_.clear();
  key_count_ = 0;
  open_.resize(1);
  open_.front().Clear();
  registry_.assign(kRegistryBuckets * kBucketCells, RegistryCell{});
}

arrow::Status FstBuilder::Add(std::string_view key, uint64_t value) {
  if (key.size() > kFstKeyBytesMax) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "transducer key too long: bytes=" + std::to_string(key.size()));
  }
  if (key_count_ > 0 && key <= last_key_) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "transducer keys out of order: ordinal=" + std::to_string(key_count_));
  }
  const size_t shared = CommonPrefix(key, last_key_);
  ARROW_RETURN_NOT_OK(CloseDownTo(shared));

  // A transition on the shared path keeps what all its keys have in common; what the new key lacks
  // moves down.
  uint64_t rest = value;
  for (size_t depth = 0; depth < shared; ++depth) {
    FstTransition& transition = open_[depth].transitions.back();
    const uint64_t common = std::min(transition.output, rest);
    open_[depth + 1].PushOutput(transition.output - common);
    transition.output = common;
    rest -= common;
  }
  if (open_.size() < key.size() + 1) open_.resize(key.size() + 1);
  for (size_t depth = shared; depth < key.size(); ++depth) {
    const uint64_t output = depth == shared ? rest : 0;
    open_[depth].transitions.push_back(
        {.label = static_cast<uint8_t>(key[depth]), .output = output, .child = 0});
    open_[depth + 1].Clear();
  }
  OpenState& end = open_[key.size()];
  end.is_final = true;
  end.final_output = key.empty() ? value : 0;
  last_key_ = key;
  ++key_count_;
  return arrow::Status::OK();
}

arrow::Status FstBuilder::CloseDownTo(size_t depth) {
  for (size_t at = last_key_.size(); at > depth; --at) {
    ARROW_ASSIGN_OR_RAISE(const uint32_t address, WriteOnce(open_[at]));
    open_[at - 1].transitions.back().child = address;
  }
  return arrow::Status::OK();
}

arrow::Result<uint32_t> FstBuilder::WriteOnce(const OpenState& state) {
  uint64_t hash = Mix(state.is_final ? 1 : 2, state.final_output);
  for (const FstTransition& transition : state.transitions) {
    hash = Mix(hash, transition.label);
    hash = Mix(hash, transition.output);
    hash = Mix(hash, transition.child);
  }
  RegistryCell* bucket = &registry_[(hash % kRegistryBuckets) * kBucketCells];
  for (size_t i = 0; i < kBucketCells; ++i) {
    const RegistryCell cell = bucket[i];
    if (cell.address == 0 || cell.hash != hash || !IsWrittenAt(cell.address, state)) continue;
    std::rotate(bucket, bucket + i, bucket + i + 1);
    return cell.address;
  }
  ARROW_ASSIGN_OR_RAISE(const uint32_t address, Write(state));
  std::rotate(bucket, bucket + kBucketCells - 1, bucket + kBucketCells);
  bucket[0] = {.hash = hash, .address = address};
  return address;
}

bool FstBuilder::IsWrittenAt(uint32_t address, const OpenState& state) const {
  const auto written = DecodeFstState(out_.bytes(), address);
  if (!written || written->is_final != state.is_final ||
      written->final_output != state.final_output ||
      written->transition_count != state.transitions.size()) {
    return false;
  }
  for (uint32_t i = 0; i < written->transition_count; ++i) {
    if (written->TransitionAt(i) != state.transitions[i]) return false;
  }
  return true;
}

arrow::Result<uint32_t> FstBuilder::Write(const OpenState& state) {
  if (out_.size() + kStateBytesMax > kSizeMax) {
    return MakeError(ErrorKind::kResourceExhausted, "transducer over 4 GiB");
  }
  const auto address = static_cast<uint32_t>(out_.size());
  const auto count = static_cast<uint32_t>(state.transitions.size());
  uint32_t delta_bytes = 1;
  uint64_t output_max = 0;
  for (const FstTransition& transition : state.transitions) {
    delta_bytes = std::max(delta_bytes, BytesFor(address - transition.child));
    output_max = std::max(output_max, transition.output);
  }
  const uint32_t output_bytes = output_max == 0 ? 0 : BytesFor(output_max);
  const uint32_t head =
      (state.is_final ? kFstFinalBit : 0U) | (state.final_output != 0 ? kFstFinalOutputBit : 0U) |
      (output_bytes != 0 ? kFstOutputsBit : 0U) | ((delta_bytes - 1) << kFstDeltaShift) |
      (std::min(count, kFstCountFollows) << kFstCountShift);
  out_.WriteU8(static_cast<uint8_t>(head));
  if (count >= kFstCountFollows) out_.WriteU8(static_cast<uint8_t>(count - 1));
  if (state.final_output != 0) out_.WriteVarint(state.final_output);
  if (output_bytes != 0) out_.WriteU8(static_cast<uint8_t>(output_bytes));
  for (const FstTransition& transition : state.transitions) out_.WriteU8(transition.label);
  for (const FstTransition& transition : state.transitions) {
    WriteSized(out_, address - transition.child, delta_bytes);
  }
  for (const FstTransition& transition : state.transitions) {
    WriteSized(out_, transition.output, output_bytes);
  }
  return address;
}

arrow::Result<std::vector<uint8_t>> FstBuilder::Finish() {
  constexpr size_t kKeyCountOffset = 8;
  constexpr size_t kRootOffset = 16;
  constexpr size_t kSizeOffset = 20;
  uint32_t root = 0;
  if (key_count_ > 0) {
    ARROW_RETURN_NOT_OK(CloseDownTo(0));
    ARROW_ASSIGN_OR_RAISE(root, WriteOnce(open_.front()));
  }
  out_.PatchU32(kKeyCountOffset, static_cast<uint32_t>(key_count_));
  out_.PatchU32(kKeyCountOffset + 4, static_cast<uint32_t>(key_count_ >> 32));
  out_.PatchU32(kRootOffset, root);
  out_.PatchU32(kSizeOffset, static_cast<uint32_t>(out_.size()));
  std::vector<uint8_t> bytes = out_.Take();
  Reset();
  return bytes;
}

}  // namespace infino
