#pragma once

#include <exception>
#include <string_view>
#include <type_traits>

#include <arrow/status.h>

namespace infino {

/// Turns the exception being handled into a status. REQUIRES: called from a catch clause.
[[nodiscard]] arrow::Status StatusOfCurrentException();

/// A failure of reading Parquet bytes: kCorrupt, unless memory ran out or the status is ours.
[[nodiscard]] arrow::Status CorruptParquet(const arrow::Status& status, std::string_view object);

/// The door through which Parquet is called: what `body` throws comes back as a status. `body`
/// returns a Status or a Result.
template <typename Body>
[[nodiscard]] std::invoke_result_t<Body> GuardParquet(Body&& body) {
  try {
    return body();
  } catch (...) {
    return StatusOfCurrentException();
  }
}

}  // namespace infino
