#include "infino/supertable/pointer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/json.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/object_names.h"
#include "infino/manifest/root_codec.h"

namespace infino {
namespace {

using nlohmann::json;

constexpr std::string_view kPointerKind = "pointer";

/// `newest` and then those of `previous` (null: none), as many as fit.
std::vector<CommitId> RecentCommits(const CommitId& newest, const Pointer* previous) {
  std::vector<CommitId> commits = {newest};
  if (previous == nullptr) return commits;
  const size_t kept = std::min(previous->recent_commits.size(), Pointer::kRecentCommitsMax - 1);
  commits.insert(commits.end(), previous->recent_commits.begin(),
                 previous->recent_commits.begin() + static_cast<std::ptrdiff_t>(kept));
  return commits;
}

arrow::Status ReadRecentCommits(const json& document, std::string_view object, Pointer* pointer) {
  ARROW_ASSIGN_OR_RAISE(const json* commits, GetArray(document, "recent_commits", object));
  const uint64_t expected = std::min<uint64_t>(pointer->table_version, Pointer::kRecentCommitsMax);
  if (commits->size() != expected) {
    return CorruptObject(object,
                         "bad number of recent commits: expected=" + std::to_string(expected) +
                             " got=" + std::to_string(commits->size()));
  }
  JsonRow row(*commits, object);
  for (uint64_t i = 0; i < expected; ++i) {
    ARROW_ASSIGN_OR_RAISE(const std::string hex, row.NextString());
    const auto id = CommitId::FromHex(hex);
    if (!id.ok()) return CorruptObject(object, "not a commit id among the recent ones");
    pointer->recent_commits.push_back(*id);
  }
  return arrow::Status::OK();
}

arrow::Status ReadRoot(const json& document, std::string_view object, Pointer* pointer) {
  ARROW_ASSIGN_OR_RAISE(const json* root, GetObject(document, "root", object));
  ARROW_ASSIGN_OR_RAISE(pointer->root.name, GetString(*root, "name", object));
  ARROW_ASSIGN_OR_RAISE(pointer->root.hash, GetHash(*root, "hash", object));
  ARROW_ASSIGN_OR_RAISE(pointer->root.size_bytes, GetCount(*root, "size", object));
  // A drop counts as a version but has no root of its own.
  const uint64_t root_version = pointer->table_version - (pointer->dropped ? 1 : 0);
  if (root_version == 0 || pointer->root.name != RootName(root_version, pointer->root.hash)) {
    return CorruptObject(object, "the root's name does not fit its version and hash");
  }
  if (!HasKey(document, "root_copy")) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(std::string copy, GetString(document, "root_copy", object));
  auto bytes = arrow::Buffer::FromString(std::move(copy));
  if (const auto status = CheckContent(pointer->root, *bytes); !status.ok()) {
    return CorruptObject(object, "the copy of the root is damaged: " + status.message());
  }
  pointer->root_copy = std::move(bytes);
  return arrow::Status::OK();
}

}  // namespace

Pointer NextPointer(const Pointer* previous, const NextVersion& next) {
  Pointer pointer;
  pointer.table_version = next.root.version;
  pointer.root = next.root_object;
  if (next.root_bytes->size() < Pointer::kRootCopyLimitBytes) pointer.root_copy = next.root_bytes;
  pointer.recent_commits = RecentCommits(next.root.commit, previous);
  return pointer;
}

Pointer DroppedPointer(const Pointer& previous, const CommitId& commit) {
  Pointer pointer;
  pointer.table_version = previous.table_version + 1;
  pointer.root = previous.root;
  pointer.dropped = true;
  pointer.recent_commits = RecentCommits(commit, &previous);
  return pointer;
}

std::shared_ptr<arrow::Buffer> EncodePointer(const Pointer& pointer) {
  json document = StartDocument(kPointerKind);
  document["version"] = pointer.table_version;
  document["root"] = {{"name", pointer.root.name},
                      {"hash", pointer.root.hash.ToHex()},
                      {"size", pointer.root.size_bytes}};
  document["dropped"] = pointer.dropped;
  json& commits = document["recent_commits"] = json::array();
  for (const CommitId& commit : pointer.recent_commits) commits.push_back(commit.ToHex());
  // A root is UTF-8 text, so a JSON string holds its exact bytes, at the price of a backslash for
  // each quotation mark.
  if (pointer.root_copy != nullptr) document["root_copy"] = std::string_view(*pointer.root_copy);
  return arrow::Buffer::FromString(FormatJson(document));
}

arrow::Result<Pointer> DecodePointer(const arrow::Buffer& bytes, std::string_view object) {
  ARROW_ASSIGN_OR_RAISE(const json document,
                        ParseDocument(std::string_view(bytes), kPointerKind, object));
  Pointer pointer;
  ARROW_ASSIGN_OR_RAISE(pointer.table_version, GetUint64(document, "version", object));
  ARROW_ASSIGN_OR_RAISE(pointer.dropped, GetBool(document, "dropped", object));
  if (pointer.table_version == 0) return CorruptObject(object, "version 0");
  ARROW_RETURN_NOT_OK(ReadRoot(document, object, &pointer));
  ARROW_RETURN_NOT_OK(ReadRecentCommits(document, object, &pointer));
  return pointer;
}

}  // namespace infino
