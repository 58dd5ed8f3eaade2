#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace infino {

/// The seed of this run's random tests: 20260101, or what INFINO_TEST_SEED says. Printed once, so
/// that a failure can be repeated.
inline uint64_t TestSeed() {
  static const uint64_t kSeed = [] {
    constexpr uint64_t kDefaultSeed = 20260101;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in a test changes the environment
    const char* text = std::getenv("INFINO_TEST_SEED");
    const uint64_t seed = text == nullptr ? kDefaultSeed : std::strtoull(text, nullptr, 10);
    std::cerr << "INFINO_TEST_SEED=" << seed << '\n';
    return seed;
  }();
  return kSeed;
}

}  // namespace infino
