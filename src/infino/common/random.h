#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>

#include "infino/common/ids.h"

namespace infino {

/// The one source of random numbers: seeded, so that a run can be repeated. Thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed);

  /// A generator seeded by the operating system.
  [[nodiscard]] static std::shared_ptr<Random> FromSystem();

  [[nodiscard]] uint64_t Next();

  /// Uniform in [0, bound). REQUIRES: bound > 0.
  [[nodiscard]] uint64_t Below(uint64_t bound);

  /// Uniform in [0, 1).
  [[nodiscard]] double Unit();

  template <typename Id>
  [[nodiscard]] Id NextId() {
    Id id;
    FillBytes(id.bytes);
    return id;
  }

 private:
  void FillBytes(std::span<uint8_t> out);

  /// The next number. REQUIRES: `mutex_` is held.
  uint64_t Draw();

  std::mutex mutex_;
  std::mt19937_64 engine_;

  /// Set if the operating system gave the seed: a forked child then asks it for another one, so
  /// that parent and child don't draw the same ids.
  std::optional<uint64_t> system_generation_;
};

}  // namespace infino
