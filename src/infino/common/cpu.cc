#include "infino/common/cpu.h"

namespace infino {
namespace {

CpuFeatures Detect() {
  CpuFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi2") != 0;
  features.avx512 = features.avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                    __builtin_cpu_supports("avx512bw") != 0 &&
                    __builtin_cpu_supports("avx512dq") != 0 &&
                    __builtin_cpu_supports("avx512vl") != 0;
  features.avx512_vpopcntdq = features.avx512 && __builtin_cpu_supports("avx512vpopcntdq") != 0;
  features.avx512_vnni = features.avx512 && __builtin_cpu_supports("avx512vnni") != 0;
#endif
  return features;
}

}  // namespace

const CpuFeatures& ThisCpu() {
  static const CpuFeatures kFeatures = Detect();
  return kFeatures;
}

}  // namespace infino
