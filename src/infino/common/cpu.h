#pragma once

namespace infino {

/// Which instruction sets this machine has and its operating system lets us use. All false on
/// processors other than x86-64.
struct CpuFeatures {
  bool avx2 = false;              ///< With FMA and BMI2, which every such processor has.
  bool avx512 = false;            ///< F, BW, DQ and VL.
  bool avx512_vpopcntdq = false;  ///< Implies avx512.
  bool avx512_vnni = false;       ///< Implies avx512.
};

/// Asked of the processor once. Thread-safe.
[[nodiscard]] const CpuFeatures& ThisCpu();

}  // namespace infino
