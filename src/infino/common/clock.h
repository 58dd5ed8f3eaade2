#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace infino {

/// Where time comes from, so that a test can hold it. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Unix time in milliseconds. May jump.
  [[nodiscard]] virtual int64_t UnixMs() const = 0;

  /// A time that only moves forward, from an arbitrary start.
  [[nodiscard]] virtual std::chrono::nanoseconds Monotonic() const = 0;

  /// Blocks the calling thread. The manual clock advances instead.
  virtual void Sleep(std::chrono::milliseconds duration) = 0;
};

[[nodiscard]] std::shared_ptr<Clock> SystemClock();

/// A clock that moves when told to, or when somebody sleeps on it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t unix_ms) : now_ms_(unix_ms) {}

  [[nodiscard]] int64_t UnixMs() const override { return now_ms_.load(); }

  [[nodiscard]] std::chrono::nanoseconds Monotonic() const override {
    return std::chrono::milliseconds(now_ms_.load());
  }

  void Sleep(std::chrono::milliseconds duration) override { Advance(duration); }

  void Advance(std::chrono::milliseconds duration) { now_ms_ += duration.count(); }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace infino
