#include "infino/manifest/json_fields.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/error.h"

namespace infino {

using nlohmann::json;

arrow::Status CorruptObject(std::string_view object, std::string_view what) {
  std::string message(object);
  message += ": ";
  message += what;
  return MakeError(ErrorKind::kCorrupt, std::move(message));
}

arrow::Status CheckFormatVersion(const json& document, uint64_t supported,
                                 std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t format, GetUint64(document, "format_version", object));
  if (format <= supported) return arrow::Status::OK();
  return MakeError(ErrorKind::kUnsupportedVersion,
                   std::string(object) + ": written by a newer infino: format_version=" +
                       std::to_string(format) + " supported=" + std::to_string(supported));
}

json StartDocument(std::string_view kind) {
  json document = json::object();
  document["kind"] = kind;
  document["format_version"] = kTableFormatVersion;
  return document;
}

arrow::Result<json> ParseDocument(std::string_view text, std::string_view kind,
                                  std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(json document, ParseJson(text, object));
  ARROW_ASSIGN_OR_RAISE(const std::string found, GetString(document, "kind", object));
  if (found != kind) {
    return CorruptObject(object, "not a " + std::string(kind) + ": kind=" + found);
  }
  ARROW_RETURN_NOT_OK(CheckFormatVersion(document, kTableFormatVersion, object));
  return document;
}

arrow::Result<int64_t> GetCount(const json& parent, std::string_view key, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const int64_t value, GetInt64(parent, key, object));
  if (value < 0) return CorruptObject(object, "negative count: key=" + std::string(key));
  return value;
}

arrow::Result<ContentHash> GetHash(const json& parent, std::string_view key,
                                   std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const std::string hex, GetString(parent, key, object));
  auto hash = ContentHash::FromHex(hex);
  if (!hash.ok()) return CorruptObject(object, "not a hash: key=" + std::string(key));
  return hash;
}

arrow::Result<CommitId> GetCommitId(const json& parent, std::string_view key,
                                    std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const std::string hex, GetString(parent, key, object));
  auto id = CommitId::FromHex(hex);
  if (!id.ok()) return CorruptObject(object, "not a commit id: key=" + std::string(key));
  return id;
}

arrow::Result<const json*> JsonRow::Next() {
  if (!row_->is_array()) return CorruptObject(object_, "expected an array");
  if (next_ >= row_->size()) return CorruptObject(object_, "array too short");
  return &(*row_)[next_++];
}

arrow::Result<uint64_t> JsonRow::NextUint64() {
  ARROW_ASSIGN_OR_RAISE(const json* value, Next());
  const auto* number = value->get_ptr<const json::number_unsigned_t*>();
  if (number == nullptr) return CorruptObject(object_, "expected a whole number in an array");
  return *number;
}

arrow::Result<int64_t> JsonRow::NextCount() {
  ARROW_ASSIGN_OR_RAISE(const uint64_t value, NextUint64());
  if (value > uint64_t{std::numeric_limits<int64_t>::max()}) {
    return CorruptObject(object_, "number in an array does not fit 63 bits");
  }
  return static_cast<int64_t>(value);
}

arrow::Result<std::string> JsonRow::NextString() {
  ARROW_ASSIGN_OR_RAISE(const json* value, Next());
  const auto* text = value->get_ptr<const json::string_t*>();
  if (text == nullptr) return CorruptObject(object_, "expected a string in an array");
  return *text;
}

arrow::Result<ContentHash> JsonRow::NextHash() {
  ARROW_ASSIGN_OR_RAISE(const std::string hex, NextString());
  auto hash = ContentHash::FromHex(hex);
  if (!hash.ok()) return CorruptObject(object_, "not a hash in an array");
  return hash;
}

arrow::Result<const json*> JsonRow::NextArray() {
  ARROW_ASSIGN_OR_RAISE(const json* value, Next());
  if (!value->is_array()) return CorruptObject(object_, "expected an array in an array");
  return value;
}

arrow::Status JsonRow::Finish() const {
  if (!row_->is_array() || next_ != row_->size()) return CorruptObject(object_, "array too long");
  return arrow::Status::OK();
}

}  // namespace infino
