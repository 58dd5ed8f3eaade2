#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/json.h"

namespace infino {

/// What the JSON objects of a table have in common (docs/format/versioning.md): the first two keys,
/// counts, hashes and references. All failures are kCorrupt and name `object`.

/// The format version that this library writes, and the newest it reads.
inline constexpr uint64_t kTableFormatVersion = 0;

[[nodiscard]] arrow::Status CorruptObject(std::string_view object, std::string_view what);

/// kUnsupportedVersion if the document's `format_version` is above `supported`.
[[nodiscard]] arrow::Status CheckFormatVersion(const nlohmann::json& document, uint64_t supported,
                                               std::string_view object);

/// An object with `kind` and the format version.
[[nodiscard]] nlohmann::json StartDocument(std::string_view kind);

/// Parses a document that StartDocument began. kUnsupportedVersion if its format is newer.
[[nodiscard]] arrow::Result<nlohmann::json> ParseDocument(std::string_view text,
                                                          std::string_view kind,
                                                          std::string_view object);

/// A number that is not negative.
[[nodiscard]] arrow::Result<int64_t> GetCount(const nlohmann::json& parent, std::string_view key,
                                              std::string_view object);

[[nodiscard]] arrow::Result<ContentHash> GetHash(const nlohmann::json& parent, std::string_view key,
                                                 std::string_view object);

[[nodiscard]] arrow::Result<CommitId> GetCommitId(const nlohmann::json& parent,
                                                  std::string_view key, std::string_view object);

/// The elements of an array, by position, each checked to be of the type in the name. Fails as the
/// functions above.
class JsonRow {
 public:
  /// Both arguments outlive the row. `row` may be anything; reading a non-array fails.
  JsonRow(const nlohmann::json& row, std::string_view object) : row_(&row), object_(object) {}

  [[nodiscard]] arrow::Result<uint64_t> NextUint64();
  [[nodiscard]] arrow::Result<int64_t> NextCount();
  [[nodiscard]] arrow::Result<std::string> NextString();
  [[nodiscard]] arrow::Result<ContentHash> NextHash();
  [[nodiscard]] arrow::Result<const nlohmann::json*> NextArray();

  /// kCorrupt unless every element was read.
  [[nodiscard]] arrow::Status Finish() const;

 private:
  [[nodiscard]] arrow::Result<const nlohmann::json*> Next();

  const nlohmann::json* row_;
  std::string_view object_;
  size_t next_ = 0;
};

}  // namespace infino
