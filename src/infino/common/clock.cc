#include "infino/common/clock.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

namespace infino {
namespace {

class RealClock final : public Clock {
 public:
  [[nodiscard]] int64_t UnixMs() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

  [[nodiscard]] std::chrono::nanoseconds Monotonic() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  void Sleep(std::chrono::milliseconds duration) override { std::this_thread::sleep_for(duration); }
};

}  // namespace

std::shared_ptr<Clock> SystemClock() {
  return std::make_shared<RealClock>();
}

}  // namespace infino
