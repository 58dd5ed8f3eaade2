#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/options.h"

namespace infino {

/// kCancelled if `stop` says the call should end, else OK. Cheap: ask it between pieces of work.
[[nodiscard]] arrow::Status CheckStop(const StopCondition& stop);

/// Waits for `future` and returns its outcome, asking `stop` every 50 ms; once that says so,
/// returns kCancelled and leaves the work behind the future to go on unobserved. The one blocking
/// function of the library besides Clock::Sleep. REQUIRES: the caller is no pool thread.
template <typename T>
[[nodiscard]] arrow::Result<T> Wait(const arrow::Future<T>& future,
                                    const StopCondition& stop = {}) {
  constexpr double kPollSeconds = 0.05;
  while (!future.Wait(kPollSeconds)) ARROW_RETURN_NOT_OK(CheckStop(stop));
  return future.result();
}

/// The same for a future without a value.
[[nodiscard]] inline arrow::Status WaitDone(const arrow::Future<>& future,
                                            const StopCondition& stop = {}) {
  constexpr double kPollSeconds = 0.05;
  while (!future.Wait(kPollSeconds)) ARROW_RETURN_NOT_OK(CheckStop(stop));
  return future.status();
}

}  // namespace infino
