#pragma once

#include <array>
#include <cstdint>

namespace infino::vector {

/// The instruction sets that kernels are written for. All give the same results to the bit.
enum class InstructionSet : uint8_t { kPlain, kAvx2, kAvx512, kNeon };

inline constexpr std::array<InstructionSet, 4> kInstructionSets = {
    InstructionSet::kPlain, InstructionSet::kAvx2, InstructionSet::kAvx512, InstructionSet::kNeon};

/// Whether this build and machine have it.
[[nodiscard]] bool HasInstructionSet(InstructionSet set);

/// The fastest that this machine has.
[[nodiscard]] InstructionSet BestInstructionSet();

}  // namespace infino::vector
