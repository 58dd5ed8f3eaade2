#include "cli/interrupt.h"

#include <array>
#include <cerrno>
#include <csignal>

#include <arrow/status.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "cli/command.h"
#include "infino/common/wait.h"
#include "infino/options.h"

namespace infino::cli {

namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a signal handler's
volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t ends_next = 0;

/// A byte goes through it at each Ctrl-C, so that one just before a wait is not missed.
std::array<int, 2> wake_pipe{-1, -1};

// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void OnInterrupt(int /*signal*/) {
  const int error = errno;
  interrupted = 1;
  if (ends_next != 0) static_cast<void>(std::signal(SIGINT, SIG_DFL));
  // A full pipe wakes as well.
  [[maybe_unused]] const ssize_t written = write(wake_pipe[1], "", 1);
  errno = error;
}

void MakeWakePipe() {
  if (wake_pipe[0] >= 0 || pipe(wake_pipe.data()) != 0) return;
  for (const int end : wake_pipe) {
    static_cast<void>(fcntl(end, F_SETFL, O_NONBLOCK));
    static_cast<void>(fcntl(end, F_SETFD, FD_CLOEXEC));
  }
}

}  // namespace

void NoticeInterrupts(InterruptMode mode) {
  MakeWakePipe();
  ends_next = mode == InterruptMode::kStopThenEnd ? 1 : 0;
  static_cast<void>(std::signal(SIGINT, OnInterrupt));
}

bool Interrupted() {
  return interrupted != 0;
}

StopCondition StopOnInterrupt() {
  StopCondition stop;
  stop.poll = Interrupted;
  return stop;
}

arrow::Status CheckInterrupt() {
  return CheckStop(StopOnInterrupt());
}

void ForgetInterrupt() {
  std::array<char, 64> bytes{};
  while (read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
  }
  interrupted = 0;
}

bool WaitForInput() {
  while (!Interrupted()) {
    std::array<pollfd, 2> waited{pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = wake_pipe[0], .events = POLLIN, .revents = 0}};
    if (poll(waited.data(), waited.size(), -1) < 0 && errno != EINTR) return true;
    if (waited[0].revents != 0 && !Interrupted()) return true;
  }
  return false;
}

}  // namespace infino::cli
