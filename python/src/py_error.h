#pragma once

#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <nanobind/nanobind.h>

#include "py_exit.h"
#include "py_log.h"

namespace infino::python {

/// Raises the Python exception for a failed status: the class that `infino._errors` names for its
/// kind, or the exception that is already set (a signal handler's, the caller's own stream's).
/// REQUIRES: the interpreter lock is held.
void RaiseUnlessOk(const arrow::Status& status);

template <typename T>
T ValueOrRaise(arrow::Result<T> result) {
  RaiseUnlessOk(result.status());
  return std::move(result).ValueUnsafe();
}

/// Runs `call`, which returns a Result, without the interpreter lock and gives its value, or
/// raises. Once the interpreter exits, only the thread that ends it comes back.
template <typename Call>
auto Unlocked(Call call) {
  auto result = [&] {
    const LibraryCall in_library;
    return call();
  }();
  PassOnLog();
  return ValueOrRaise(std::move(result));
}

}  // namespace infino::python
