#pragma once

#include <cstdint>

#include <arrow/status.h>

namespace infino::cli {

/// What Ctrl-C does to the process.
enum class InterruptMode : uint8_t {
  kStopThenEnd,  ///< The first one stops what runs, a second one ends the process at once.
  kStop,         ///< Each one stops what runs.
};

/// Has Ctrl-C noticed instead of ending the process. Calls of the system go on after it. May be
/// called again to change the mode.
void NoticeInterrupts(InterruptMode mode);

/// Whether Ctrl-C was pressed since the start, or since ForgetInterrupt.
[[nodiscard]] bool Interrupted();

/// kCancelled after Ctrl-C.
[[nodiscard]] arrow::Status CheckInterrupt();

/// What was interrupted has stopped, and the next thing may begin.
void ForgetInterrupt();

/// Waits until standard input has something to read, its end among it. False after Ctrl-C.
[[nodiscard]] bool WaitForInput();

}  // namespace infino::cli
