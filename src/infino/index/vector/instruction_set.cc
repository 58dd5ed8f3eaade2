#include "infino/index/vector/instruction_set.h"

#include "infino/common/cpu.h"

namespace infino::vector {

bool HasInstructionSet(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPlain:
      return true;
    case InstructionSet::kAvx2:
      return ThisCpu().avx2;
    case InstructionSet::kAvx512:
      return ThisCpu().avx512;
    case InstructionSet::kNeon:
#if defined(__aarch64__)
      return true;
#else
      return false;
#endif
  }
  return false;
}

InstructionSet BestInstructionSet() {
  if (HasInstructionSet(InstructionSet::kAvx512)) return InstructionSet::kAvx512;
  if (HasInstructionSet(InstructionSet::kAvx2)) return InstructionSet::kAvx2;
  if (HasInstructionSet(InstructionSet::kNeon)) return InstructionSet::kNeon;
  return InstructionSet::kPlain;
}

}  // namespace infino::vector
