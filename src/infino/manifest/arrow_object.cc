#include "infino/manifest/arrow_object.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <arrow/result.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"

namespace infino {
namespace {

constexpr std::string_view kKindKey = "inf.kind";
constexpr std::string_view kFormatKey = "inf.format_version";
constexpr std::string_view kCommitKey = "inf.commit";

}  // namespace

std::shared_ptr<const arrow::KeyValueMetadata> ArrowObjectMetadata(std::string_view kind,
                                                                   const CommitId& commit) {
  return arrow::key_value_metadata(
      {std::string(kKindKey), std::string(kFormatKey), std::string(kCommitKey)},
      {std::string(kind), std::to_string(kTableFormatVersion), commit.ToHex()});
}

arrow::Result<CommitId> ReadArrowObjectMetadata(const arrow::KeyValueMetadata* metadata,
                                                std::string_view kind, std::string_view object) {
  if (metadata == nullptr) return CorruptObject(object, "no schema metadata");
  const auto found_kind = metadata->Get(kKindKey);
  if (!found_kind.ok() || *found_kind != kind) {
    return CorruptObject(object, "not a " + std::string(kind));
  }
  const auto format_text = metadata->Get(kFormatKey);
  uint64_t format = 0;
  if (!format_text.ok()) return CorruptObject(object, "no format version");
  const char* end = format_text->data() + format_text->size();
  const auto parsed = std::from_chars(format_text->data(), end, format);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return CorruptObject(object, "bad format version");
  }
  if (format > kTableFormatVersion) {
    return MakeError(ErrorKind::kUnsupportedVersion,
                     std::string(object) + ": written by a newer infino: format_version=" +
                         *format_text + " supported=" + std::to_string(kTableFormatVersion));
  }
  const auto commit_text = metadata->Get(kCommitKey);
  const auto commit = CommitId::FromHex(commit_text.ok() ? *commit_text : "");
  if (!commit.ok()) return CorruptObject(object, "bad commit id");
  return *commit;
}

}  // namespace infino
