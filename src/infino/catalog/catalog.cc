#include "infino/catalog/catalog.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infino/common/bytes.h"
#include "infino/common/json.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"
#include "infino/supertable/layout.h"

namespace infino {
namespace {

constexpr uint64_t kFormatVersion = 0;
constexpr size_t kFolderNameMax = 255;

bool IsNameByte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '_' || byte == '-';
}

/// A single path segment of harmless characters, so that a damaged catalog can't lead elsewhere.
bool IsPlainName(std::string_view name, size_t length_max) {
  return !name.empty() && name.size() <= length_max && name.front() != '_' &&
         std::ranges::all_of(name, IsNameByte);
}

arrow::Status Damaged(const std::string& why) {
  return MakeError(ErrorKind::kCorrupt, "read catalog " + CatalogPath() + ": " + why);
}

}  // namespace

arrow::Status CheckTableName(std::string_view name) {
  if (IsPlainName(name, kTableNameMax)) return arrow::Status::OK();
  return MakeError(ErrorKind::kInvalidArgument,
                   "invalid table name '" + std::string(name.substr(0, kTableNameMax)) +
                       "': a name is 1 to " + std::to_string(kTableNameMax) +
                       " letters (A-Z, a-z), digits, '_' or '-', and does not start with '_'");
}

std::shared_ptr<arrow::Buffer> EncodeCatalog(const CatalogContent& content) {
  nlohmann::json tables = nlohmann::json::object();
  for (const auto& [name, folder] : content.tables) tables[name] = folder;
  const nlohmann::json document = {
      {"format_version", kFormatVersion}, {"tables", tables}, {"version", content.version}};
  return arrow::Buffer::FromString(FormatJson(document));
}

arrow::Result<CatalogContent> DecodeCatalog(const arrow::Buffer& bytes) {
  const std::string object = CatalogPath();
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json document,
                        ParseJson(std::string_view(bytes), "catalog " + object));
  ARROW_RETURN_NOT_OK(CheckFormatVersion(document, kFormatVersion, "catalog " + object));
  CatalogContent content;
  ARROW_ASSIGN_OR_RAISE(content.version, GetUint64(document, "version", object));
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json* tables, GetObject(document, "tables", object));
  for (const auto& [name, folder] : tables->items()) {
    if (!IsPlainName(name, kTableNameMax)) return Damaged("'" + name + "' is no table name");
    ARROW_ASSIGN_OR_RAISE(std::string value, GetString(*tables, name, object));
    if (!IsPlainName(value, kFolderNameMax)) {
      return Damaged("table '" + name + "' is in '" + value + "', which is no folder name");
    }
    content.tables.emplace(name, std::move(value));
  }
  return content;
}

Catalog::Catalog(std::shared_ptr<ObjectStore> store, Options options)
    : store_(std::move(store)), options_(std::move(options)) {}

arrow::Result<CatalogContent> Catalog::Read(const StopCondition& stop) const {
  ARROW_ASSIGN_OR_RAISE(Stored stored, Load(stop));
  return std::move(stored.content);
}

arrow::Result<Catalog::Stored> Catalog::Load(const StopCondition& stop) const {
  const arrow::Result<VersionedBytes> read = Wait(store_->Get(CatalogPath()), stop);
  if (IsError(read.status(), ErrorKind::kNotFound)) return Stored{};
  ARROW_RETURN_NOT_OK(read.status());
  ARROW_ASSIGN_OR_RAISE(CatalogContent content, DecodeCatalog(*read->bytes));
  return Stored{.content = std::move(content), .version = read->version};
}

arrow::Result<PutOutcome> Catalog::TryPut(const Stored& previous, CatalogContent next) const {
  next.version = previous.content.version + 1;
  std::shared_ptr<arrow::Buffer> bytes = EncodeCatalog(next);
  auto put = previous.version
                 ? store_->PutIfMatch(CatalogPath(), std::move(bytes), *previous.version)
                 : store_->PutIfAbsent(CatalogPath(), std::move(bytes));
  ARROW_ASSIGN_OR_RAISE(const PutResult result, Wait(put));
  return result.outcome;
}

void Catalog::BackOff(int attempt) const {
  constexpr int kShiftMax = 9;
  const uint64_t ceiling_ms = uint64_t{2} << std::min(attempt, kShiftMax);
  options_.clock->Sleep(
      std::chrono::milliseconds(static_cast<int64_t>(1 + options_.random->Below(ceiling_ms))));
}

arrow::Status Catalog::Change(std::string_view what, const Edit& edit) const {
  const auto deadline =
      options_.clock->Monotonic() + std::chrono::milliseconds(options_.timeout_ms);
  arrow::Status unanswered;  // Of a put that may still land, on top of `unanswered_base`.
  std::optional<ObjectVersion> unanswered_base;
  for (int attempt = 0;; ++attempt) {
    arrow::Result<Stored> stored = Load({});
    if (stored.ok()) {
      if (stored->version != unanswered_base) unanswered = arrow::Status::OK();
      CatalogContent next = stored->content;
      if (!edit(next)) return arrow::Status::OK();
      const arrow::Result<PutOutcome> put = TryPut(*stored, std::move(next));
      if (put.ok() && *put == PutOutcome::kWritten) return arrow::Status::OK();
      if (!put.ok()) {
        if (!IsError(put.status(), ErrorKind::kUnavailable)) return put.status();
        unanswered = put.status();
        unanswered_base = stored->version;
      }
    } else if (unanswered.ok() || !IsError(stored.status(), ErrorKind::kUnavailable)) {
      return stored.status();
    }
    if (options_.clock->Monotonic() >= deadline) break;
    BackOff(attempt);
  }
  const std::string context = std::string(what) + " in " + CatalogPath();
  if (!unanswered.ok()) {
    return MakeError(
        ErrorKind::kCommitUnknown,
        context + ": the store did not say whether the change was made; " + unanswered.message());
  }
  return MakeError(ErrorKind::kConflict, context + ": other changes came first for timeout_ms=" +
                                             std::to_string(options_.timeout_ms));
}

arrow::Result<std::string> Catalog::Add(const std::string& name, const std::string& folder,
                                        const std::string& replaced) const {
  std::string holder;
  ARROW_RETURN_NOT_OK(Change("add table '" + name + "'", [&](CatalogContent& content) {
    const auto found = content.tables.find(name);
    if (found != content.tables.end() && found->second != replaced) {
      holder = found->second;
      return false;
    }
    holder = folder;
    content.tables[name] = folder;
    return true;
  }));
  return holder;
}

arrow::Status Catalog::Remove(const std::string& name, const std::string& folder) const {
  return Change("remove table '" + name + "'", [&](CatalogContent& content) {
    const auto found = content.tables.find(name);
    if (found == content.tables.end() || found->second != folder) return false;
    content.tables.erase(found);
    return true;
  });
}

}  // namespace infino
