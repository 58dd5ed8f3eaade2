#include "infino/common/fork.h"

#include <atomic>
#include <cstdint>

#include <pthread.h>

namespace infino {
namespace {

std::atomic<uint64_t>& Generation() {
  static std::atomic<uint64_t> generation{0};
  return generation;
}

void BumpInChild() {
  Generation().fetch_add(1, std::memory_order_relaxed);
}

bool InstallHandler() {
  // Made before the first fork, so that the child's handler finds it ready.
  Generation().store(0, std::memory_order_relaxed);
  return pthread_atfork(nullptr, nullptr, &BumpInChild) == 0;
}

}  // namespace

uint64_t ForkGeneration() {
  [[maybe_unused]] static const bool kInstalled = InstallHandler();
  return Generation().load(std::memory_order_relaxed);
}

}  // namespace infino
