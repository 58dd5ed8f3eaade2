#include "infino/error.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/status.h>

namespace infino {
namespace {

constexpr char kDetailType[] = "infino::ErrorKind";

class KindDetail final : public arrow::StatusDetail {
 public:
  explicit KindDetail(ErrorKind kind) : kind_(kind) {}

  [[nodiscard]] const char* type_id() const override { return kDetailType; }

  [[nodiscard]] std::string ToString() const override { return std::string(NameOf(kind_)); }

  [[nodiscard]] ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

arrow::StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return arrow::StatusCode::Invalid;
    case ErrorKind::kNotFound:
      return arrow::StatusCode::KeyError;
    case ErrorKind::kAlreadyExists:
      return arrow::StatusCode::AlreadyExists;
    case ErrorKind::kConflict:
      return arrow::StatusCode::ExecutionError;
    case ErrorKind::kCommitUnknown:
    case ErrorKind::kUnavailable:
      return arrow::StatusCode::IOError;
    case ErrorKind::kResourceExhausted:
      return arrow::StatusCode::CapacityError;
    case ErrorKind::kCorrupt:
      return arrow::StatusCode::SerializationError;
    case ErrorKind::kUnsupportedVersion:
      return arrow::StatusCode::NotImplemented;
    case ErrorKind::kCancelled:
      return arrow::StatusCode::Cancelled;
    case ErrorKind::kInternal:
      return arrow::StatusCode::UnknownError;
  }
  return arrow::StatusCode::UnknownError;
}

ErrorKind KindOfForeign(arrow::StatusCode code) {
  switch (code) {
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::KeyError:
    case arrow::StatusCode::IndexError:
    case arrow::StatusCode::NotImplemented:
      return ErrorKind::kInvalidArgument;
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError:
      return ErrorKind::kResourceExhausted;
    case arrow::StatusCode::SerializationError:
      return ErrorKind::kCorrupt;
    case arrow::StatusCode::IOError:
      return ErrorKind::kUnavailable;
    case arrow::StatusCode::Cancelled:
      return ErrorKind::kCancelled;
    case arrow::StatusCode::AlreadyExists:
      return ErrorKind::kAlreadyExists;
    default:
      return ErrorKind::kInternal;
  }
}

}  // namespace

arrow::Status MakeError(ErrorKind kind, std::string message) {
  return {CodeOf(kind), std::move(message), std::make_shared<KindDetail>(kind)};
}

bool IsError(const arrow::Status& status, ErrorKind kind) {
  return KindOf(status) == kind;
}

std::optional<ErrorKind> KindOf(const arrow::Status& status) {
  if (status.ok()) return std::nullopt;
  // The library may be loaded twice in one process, so the type is told by name and not by address.
  const auto& detail = status.detail();
  if (detail == nullptr || std::string_view(detail->type_id()) != kDetailType) return std::nullopt;
  return std::static_pointer_cast<const KindDetail>(detail)->kind();
}

arrow::Status FromForeign(const arrow::Status& status, std::string_view context) {
  if (status.ok()) return status;
  std::string message(context);
  message += ": ";
  message += status.message();
  // Ours says no more than the kind; another library's may say the most.
  const auto& detail = status.detail();
  if (detail != nullptr && !KindOf(status).has_value()) message += ". " + detail->ToString();
  return MakeError(KindOf(status).value_or(KindOfForeign(status.code())), std::move(message));
}

std::string_view NameOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalid_argument";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kAlreadyExists:
      return "already_exists";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kCommitUnknown:
      return "commit_unknown";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kResourceExhausted:
      return "resource_exhausted";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kUnsupportedVersion:
      return "unsupported_version";
    case ErrorKind::kCancelled:
      return "cancelled";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "unknown";
}

}  // namespace infino
