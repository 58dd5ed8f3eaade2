#include "py_exit.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include <nanobind/nanobind.h>
#include <pthread.h>

#include "infino/common/clock.h"
#include "infino/common/pool_threads.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

/// A call that does not end by then reads from a stream of Python's, which may never end.
constexpr std::chrono::milliseconds kPatience{5'000};

/// Threads in the library, and whether the interpreter exits, on which thread.
struct Calls {
  std::atomic<int64_t> count{0};
  std::atomic<bool> is_exiting{false};
  pthread_t last_thread{};  ///< Set before is_exiting.
};

Calls& AllCalls() {
  static Calls calls;
  return calls;
}

/// How many calls deep this thread is: a callback may call the library again.
int& Depth() {
  thread_local int depth = 0;
  return depth;
}

/// Ends all calls of this thread. The interpreter lock is not held.
[[noreturn]] void SleepForGood() {
  AllCalls().count -= Depth();
  const std::shared_ptr<Clock> clock = SystemClock();
  while (true) clock->Sleep(std::chrono::hours(1));
}

/// Stops the calls under way, and waits for them and for what the pools still do for them.
void BeginExit() {
  Calls& calls = AllCalls();
  calls.last_thread = pthread_self();
  calls.is_exiting = true;
  const nb::gil_scoped_release unlocked;
  const std::shared_ptr<Clock> clock = SystemClock();
  const std::chrono::nanoseconds deadline = clock->Monotonic() + kPatience;
  while (calls.count > 0 && clock->Monotonic() < deadline) {
    clock->Sleep(std::chrono::milliseconds(1));
  }
  AwaitPoolTasks(kPatience);
}

}  // namespace

LibraryCall::LibraryCall() {
  if (IsLeftBehind()) {
    PyEval_SaveThread();
    SleepForGood();
  }
  ++AllCalls().count;
  ++Depth();
  state_ = PyEval_SaveThread();
}

LibraryCall::~LibraryCall() {
  if (IsLeftBehind()) SleepForGood();
  PyEval_RestoreThread(state_);
  --Depth();
  --AllCalls().count;
}

bool IsLeftBehind() {
  const Calls& calls = AllCalls();
  return calls.is_exiting && pthread_equal(calls.last_thread, pthread_self()) == 0;
}

void BindExit(nb::module_& module) {
  module.def("begin_exit", &BeginExit);
  module.def("forget_other_threads", [] { AllCalls().count = Depth(); });
}

}  // namespace infino::python
