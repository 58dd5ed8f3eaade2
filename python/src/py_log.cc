#include "py_log.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "infino/common/never_destroyed.h"
#include "infino/log.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

struct Message {
  LogLevel level;
  std::string text;
};

/// Messages that wait. Only tried to be locked, so that a child of a fork never waits for a thread
/// that it does not have: then a message is lost, or comes later.
class Waiting {
 public:
  void Add(LogLevel level, std::string_view text) {
    constexpr size_t kMessagesMax = 1000;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || messages_.size() >= kMessagesMax) {
      ++lost_count_;
      return;
    }
    messages_.push_back({level, std::string(text)});
    any_ = true;
  }

  [[nodiscard]] bool any() const { return any_; }

  [[nodiscard]] std::vector<Message> Take() {
    std::vector<Message> taken;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return taken;
    taken.swap(messages_);
    any_ = false;
    if (const size_t lost = lost_count_.exchange(0); lost > 0) {
      taken.push_back({LogLevel::kWarning, std::to_string(lost) + " messages were lost"});
    }
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<Message> messages_;
  std::atomic<size_t> lost_count_ = 0;
  std::atomic<bool> any_ = false;
};

Waiting& AllWaiting() {
  static NeverDestroyed<Waiting> waiting;
  return waiting.value;
}

}  // namespace

void PassOnLog() {
  if (!AllWaiting().any()) return;
  // What logging raises is not the call's to raise; what the call raises comes afterwards.
  const nb::error_scope kept;
  try {
    const nb::object logger = nb::module_::import_("logging").attr("getLogger")("infino");
    for (const Message& message : AllWaiting().Take()) {
      const char* const method = message.level == LogLevel::kInfo ? "info" : "warning";
      const nb::str text(message.text.c_str(), message.text.size());
      logger.attr(method)("%s", text);
    }
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
  }
}

void BindLog(nb::module_& /*module*/) {
  SetLogSink([](LogLevel level, std::string_view text) { AllWaiting().Add(level, text); });
}

}  // namespace infino::python
