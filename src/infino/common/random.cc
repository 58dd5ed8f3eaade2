#include "infino/common/random.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <span>

#include "infino/common/fork.h"

namespace infino {
namespace {

std::mt19937_64 EngineFromSystem() {
  std::random_device device;
  std::array<uint32_t, 8> words{};
  for (uint32_t& word : words) word = device();
  std::seed_seq sequence(words.begin(), words.end());
  return std::mt19937_64(sequence);
}

}  // namespace

Random::Random(uint64_t seed) : engine_(seed) {}

std::shared_ptr<Random> Random::FromSystem() {
  auto random = std::make_shared<Random>(0);
  random->engine_ = EngineFromSystem();
  random->system_generation_ = ForkGeneration();
  return random;
}

uint64_t Random::Draw() {
  if (system_generation_ && *system_generation_ != ForkGeneration()) {
    engine_ = EngineFromSystem();
    system_generation_ = ForkGeneration();
  }
  return engine_();
}

uint64_t Random::Next() {
  const std::lock_guard lock(mutex_);
  return Draw();
}

uint64_t Random::Below(uint64_t bound) {
  assert(bound > 0);
  // Draws under 2^64 mod bound would make the small remainders likelier.
  const uint64_t rejected = (uint64_t{0} - bound) % bound;
  const std::lock_guard lock(mutex_);
  uint64_t value = Draw();
  while (value < rejected) value = Draw();
  return value % bound;
}

double Random::Unit() {
  constexpr double kScale = 1.0 / static_cast<double>(uint64_t{1} << 53);
  return static_cast<double>(Next() >> 11) * kScale;
}

void Random::FillBytes(std::span<uint8_t> out) {
  const std::lock_guard lock(mutex_);
  for (size_t at = 0; at < out.size(); at += sizeof(uint64_t)) {
    uint64_t value = Draw();
    for (uint8_t& byte : out.subspan(at, std::min(out.size() - at, sizeof(uint64_t)))) {
      byte = static_cast<uint8_t>(value);
      value >>= 8;
    }
  }
}

}  // namespace infino
