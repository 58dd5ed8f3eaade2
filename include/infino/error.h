#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/status.h>

namespace infino {

/// What the caller can do about a failure. A kind exists only where a caller acts differently on
/// it; everything that helps to diagnose belongs in the message, which is not part of the API.
enum class ErrorKind : uint8_t {
  kInvalidArgument,     ///< The request is wrong. Fix it; a retry fails again.
  kNotFound,            ///< The named table (below the manifest: object) does not exist.
  kAlreadyExists,       ///< It exists and the request asked for it not to.
  kConflict,            ///< Another commit won and this one cannot be rebased. Start over.
  kCommitUnknown,       ///< The store never answered the pointer swap. Neither retry nor clean up.
  kUnavailable,         ///< The store failed after all retries. Try later.
  kResourceExhausted,   ///< A memory or disk budget would be exceeded. Ask for less, or raise it.
  kCorrupt,             ///< Stored bytes break their format. Names the object and the offset.
  kUnsupportedVersion,  ///< Stored bytes are newer than this library.
  kCancelled,           ///< The caller cancelled, or its deadline passed.
  kInternal,            ///< A bug in infino.
};

/// Makes a failed status of `kind`. `message` says what was tried, on which object, and why it
/// failed, in that order.
[[nodiscard]] arrow::Status MakeError(ErrorKind kind, std::string message);

/// Reports whether `status` failed with `kind`. False for success and for statuses of other
/// libraries, which `FromForeign` turns into ours at the boundary.
[[nodiscard]] bool IsError(const arrow::Status& status, ErrorKind kind);

/// The kind of a failed status, or nothing for success and for statuses of other libraries.
[[nodiscard]] std::optional<ErrorKind> KindOf(const arrow::Status& status);

/// Gives a status of Arrow or Parquet a kind, and puts `context` before its message and what its
/// detail says behind it. Keeps the kind of a status that has one.
[[nodiscard]] arrow::Status FromForeign(const arrow::Status& status, std::string_view context);

/// The name of `kind` in lower case with underscores, as in "invalid_argument".
[[nodiscard]] std::string_view NameOf(ErrorKind kind);

}  // namespace infino
