#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "infino/common/bytes.h"

namespace infino {

// docs/format/primitives.md in code: what FstBuilder and FstReader share.

/// "IFST" as bytes.
inline constexpr uint32_t kFstMagic = 0x54534649;
inline constexpr uint32_t kFstVersion = 0;

/// Magic, version, number of keys, address of the root, size of the whole.
inline constexpr size_t kFstHeaderBytes = 24;

/// 255 characters of four bytes.
inline constexpr size_t kFstKeyBytesMax = 1020;

inline constexpr uint8_t kFstFinalBit = 0x01;
inline constexpr uint8_t kFstFinalOutputBit = 0x02;
inline constexpr uint8_t kFstOutputsBit = 0x04;
inline constexpr uint32_t kFstDeltaShift = 3;
inline constexpr uint32_t kFstCountShift = 5;

/// In the header byte's count: the count follows in a byte of its own, minus one.
inline constexpr uint32_t kFstCountFollows = 7;

struct FstTransition {
  uint8_t label = 0;
  uint64_t output = 0;
  uint32_t child = 0;  ///< Address of the state it leads to.

  friend bool operator==(const FstTransition&, const FstTransition&) = default;
};

/// A view of one written state. Its arrays lie within the bytes it was decoded from.
struct FstState {
  uint32_t address = 0;
  bool is_final = false;
  uint64_t final_output = 0;
  uint32_t transition_count = 0;
  uint32_t delta_bytes = 0;
  uint32_t output_bytes = 0;
  const uint8_t* labels = nullptr;
  const uint8_t* deltas = nullptr;
  const uint8_t* outputs = nullptr;

  /// How many labels are less than `label`.
  [[nodiscard]] uint32_t CountBelow(uint8_t label) const;

  /// Nothing if the child's address isn't before this one's. REQUIRES: ordinal < transition_count.
  [[nodiscard]] std::optional<FstTransition> TransitionAt(uint32_t ordinal) const;
};

/// Decodes the state at `address`; nothing if it doesn't lie within `bytes` or breaks the format.
[[nodiscard]] std::optional<FstState> DecodeFstState(ByteSpan bytes, uint32_t address);

}  // namespace infino
