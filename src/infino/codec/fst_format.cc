#include "infino/codec/fst_format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "infino/common/bytes.h"

namespace infino {
namespace {

constexpr uint32_t kOutputBytesMax = 8;

/// Reads a little-endian number of `size` bytes. REQUIRES: size <= 8 and the bytes are there.
uint64_t LoadSized(const uint8_t* at, uint32_t size) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < size; ++i) value |= uint64_t{at[i]} << (8 * i);
  return value;
}

/// Walks over a state's bytes without making a status: a lookup decodes one state for each byte of
/// its key.
class StateParser {
 public:
  StateParser(ByteSpan bytes, size_t at) : bytes_(bytes), at_(at) {}

  bool Byte(uint8_t& out) {
    if (at_ >= bytes_.size()) return false;
    out = bytes_[at_++];
    return true;
  }

  bool Varint(uint64_t& out) {
    out = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      if (!Byte(byte)) return false;
      if (shift == 63 && byte > 1) return false;
      out |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  bool Run(size_t length, const uint8_t*& out) {
    if (length > bytes_.size() - at_) return false;
    out = bytes_.data() + at_;
    at_ += length;
    return true;
  }

 private:
  ByteSpan bytes_;
  size_t at_;
};

bool ParseCount(uint8_t head, StateParser& parser, FstState& state) {
  state.transition_count = head >> kFstCountShift;
  if (state.transition_count != kFstCountFollows) return true;
  uint8_t count = 0;
  if (!parser.Byte(count)) return false;
  state.transition_count = uint32_t{count} + 1;
  return true;
}

bool ParseOutputs(uint8_t head, StateParser& parser, FstState& state) {
  state.is_final = (head & kFstFinalBit) != 0;
  if ((head & kFstFinalOutputBit) != 0) {
    if (!state.is_final || !parser.Varint(state.final_output)) return false;
  }
  if ((head & kFstOutputsBit) == 0) return true;
  uint8_t size = 0;
  if (!parser.Byte(size) || size == 0 || size > kOutputBytesMax) return false;
  state.output_bytes = size;
  return true;
}

}  // namespace

uint32_t FstState::CountBelow(uint8_t label) const {
  const uint8_t* end = labels + transition_count;
  return static_cast<uint32_t>(std::lower_bound(labels, end, label) - labels);
}

std::optional<FstTransition> FstState::TransitionAt(uint32_t ordinal) const {
  const uint64_t delta = LoadSized(deltas + size_t{ordinal} * delta_bytes, delta_bytes);
  if (delta == 0 || delta > address - kFstHeaderBytes) return std::nullopt;
  return FstTransition{.label = labels[ordinal],
                       .output = LoadSized(outputs + size_t{ordinal} * output_bytes, output_bytes),
                       .child = static_cast<uint32_t>(address - delta)};
}

std::optional<FstState> DecodeFstState(ByteSpan bytes, uint32_t address) {
  if (address < kFstHeaderBytes) return std::nullopt;
  StateParser parser(bytes, address);
  uint8_t head = 0;
  FstState state{.address = address};
  if (!parser.Byte(head) || !ParseCount(head, parser, state) ||
      !ParseOutputs(head, parser, state)) {
    return std::nullopt;
  }
  // A state that leads nowhere and ends nothing would let a walk run into dead ends.
  const uint32_t count = state.transition_count;
  if (count == 0) return state.is_final ? std::optional(state) : std::nullopt;
  state.delta_bytes = ((head >> kFstDeltaShift) & 3U) + 1;
  if (!parser.Run(count, state.labels) ||
      !parser.Run(size_t{count} * state.delta_bytes, state.deltas) ||
      !parser.Run(size_t{count} * state.output_bytes, state.outputs)) {
    return std::nullopt;
  }
  return state;
}

}  // namespace infino
