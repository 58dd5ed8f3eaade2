#include "infino/common/log.h"

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

#include "infino/log.h"

namespace infino {
namespace {

/// A plain pointer: threads may be inside a sink that is replaced, and after a fork no lock of
/// another thread may be waited for.
std::atomic<const LogSink*>& Sink() {
  static std::atomic<const LogSink*> sink = nullptr;
  return sink;
}

}  // namespace

void SetLogSink(LogSink sink) {
  if (sink == nullptr) {
    Sink() = nullptr;
    return;
  }
  Sink() = std::make_unique<const LogSink>(std::move(sink)).release();
}

void Log(LogLevel level, std::string_view message) {
  if (const LogSink* sink = Sink(); sink != nullptr) (*sink)(level, message);
}

bool IsLogged() {
  return Sink() != nullptr;
}

}  // namespace infino
