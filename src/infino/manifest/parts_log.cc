#include "infino/manifest/parts_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/totals.h"

namespace infino {
namespace {

/// What a part has beside its entries: schema and batch header. Two parts made one save it.
constexpr int64_t kPartOverheadBytes = 4 << 10;

ManifestPart Slice(const ManifestPart& part, size_t begin, size_t end) {
  ManifestPart slice;
  slice.commit = part.commit;
  ManifestPart source;
  source.summaries = part.summaries;
  source.entries.assign(part.entries.begin() + static_cast<std::ptrdiff_t>(begin),
                        part.entries.begin() + static_cast<std::ptrdiff_t>(end));
  AppendEntries(source, &slice);
  return slice;
}

bool IsLarge(const LoggedPart& part) {
  return part.ref.object.size_bytes >= kLargePartBytes;
}

}  // namespace

void AppendEntries(const ManifestPart& from, ManifestPart* to) {
  std::map<ContentHash, int32_t> ordinals;
  for (const ObjectRef& summary : to->summaries) {
    ordinals.emplace(summary.hash, static_cast<int32_t>(ordinals.size()));
  }
  const auto renumber = [&](std::vector<SummaryRef>* refs) {
    for (SummaryRef& ref : *refs) {
      const ObjectRef& summary = from.summaries[static_cast<size_t>(ref.summary)];
      const auto [known, is_new] =
          ordinals.emplace(summary.hash, static_cast<int32_t>(to->summaries.size()));
      if (is_new) to->summaries.push_back(summary);
      ref.summary = known->second;
    }
  };
  for (SuperfileEntry entry : from.entries) {
    renumber(&entry.term_filters);
    renumber(&entry.value_counts);
    to->entries.push_back(std::move(entry));
  }
}

PartsLog::PartsLog(const ManifestRoot& root,
                   std::span<const std::shared_ptr<const ManifestPart>> parts,
                   const CommitId& commit)
    : commit_(commit) {
  parts_.reserve(parts.size() + 1);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts_.push_back({.ref = root.parts[i], .part = parts[i], .bytes = nullptr});
  }
}

arrow::Status PartsLog::Write(ManifestPart part, std::vector<LoggedPart>* out) const {
  part.commit = commit_;
  ARROW_ASSIGN_OR_RAISE(auto bytes, EncodePart(part));
  if (bytes->size() > kPartBytesMax && part.entries.size() > 1) {
    const auto pieces =
        std::min(part.entries.size(), static_cast<size_t>(bytes->size() / kPartBytesMax) + 1);
    for (size_t i = 0; i < pieces; ++i) {
      const size_t begin = part.entries.size() * i / pieces;
      const size_t end = part.entries.size() * (i + 1) / pieces;
      ARROW_RETURN_NOT_OK(Write(Slice(part, begin, end), out));
    }
    return arrow::Status::OK();
  }
  LoggedPart written;
  written.ref.object = RefOfPart(*bytes);
  ARROW_ASSIGN_OR_RAISE(written.ref.totals, TotalsOf(part));
  written.part = std::make_shared<const ManifestPart>(std::move(part));
  written.bytes = std::move(bytes);
  out->push_back(std::move(written));
  return arrow::Status::OK();
}

arrow::Result<size_t> PartsLog::Remove(const std::unordered_set<SuperfileId, RandomIdHash>& ids) {
  const auto is_removed = [&](const SuperfileEntry& entry) { return ids.contains(entry.id); };
  size_t found = 0;
  std::vector<LoggedPart> kept;
  // What remains of neighbouring parts is written together, so that no crumbs are left over.
  ManifestPart remains;
  const auto flush = [&]() -> arrow::Status {
    if (remains.entries.empty()) return arrow::Status::OK();
    return Write(std::exchange(remains, {}), &kept);
  };
  for (LoggedPart& logged : parts_) {
    const auto& entries = logged.part->entries;
    const auto removed =
        static_cast<size_t>(std::count_if(entries.begin(), entries.end(), is_removed));
    found += removed;
    if (removed == 0 && (remains.entries.empty() || IsLarge(logged))) {
      ARROW_RETURN_NOT_OK(flush());
      kept.push_back(std::move(logged));
      continue;
    }
    ManifestPart rest;
    rest.summaries = logged.part->summaries;
    std::remove_copy_if(entries.begin(), entries.end(), std::back_inserter(rest.entries),
                        is_removed);
    AppendEntries(rest, &remains);
  }
  ARROW_RETURN_NOT_OK(flush());
  parts_ = std::move(kept);
  return found;
}

arrow::Result<std::vector<std::optional<TombstonesRef>>> PartsLog::SetTombstones(
    const std::unordered_map<SuperfileId, TombstonesRef, RandomIdHash>& tombstones) {
  std::vector<std::optional<TombstonesRef>> before;
  std::vector<LoggedPart> parts;
  parts.reserve(parts_.size());
  for (LoggedPart& logged : parts_) {
    const bool is_touched = std::ranges::any_of(
        logged.part->entries,
        [&](const SuperfileEntry& entry) { return tombstones.contains(entry.id); });
    if (!is_touched) {
      parts.push_back(std::move(logged));
      continue;
    }
    ManifestPart changed = *logged.part;
    for (SuperfileEntry& entry : changed.entries) {
      const auto found = tombstones.find(entry.id);
      if (found == tombstones.end()) continue;
      const int64_t had = entry.row_count - entry.live_row_count();
      const int64_t has = found->second.deleted_count;
      if (has <= had || has > entry.row_count) {
        return MakeError(ErrorKind::kInvalidArgument,
                         "delete rows of superfile " + entry.id.ToHex() + ": deleted before=" +
                             std::to_string(had) + " now=" + std::to_string(has) +
                             " of=" + std::to_string(entry.row_count));
      }
      before.push_back(std::exchange(entry.tombstones, found->second));
    }
    ARROW_RETURN_NOT_OK(Write(std::move(changed), &parts));
  }
  parts_ = std::move(parts);
  return before;
}

arrow::Status PartsLog::Append(ManifestPart added) {
  if (added.entries.empty()) return arrow::Status::OK();
  std::vector<LoggedPart> newest;
  ARROW_RETURN_NOT_OK(Write(std::move(added), &newest));
  while (!parts_.empty() && newest.size() == 1) {
    const LoggedPart& last = parts_.back();
    const int64_t expected = last.ref.object.size_bytes + newest[0].ref.object.size_bytes;
    if (expected - kPartOverheadBytes >= kSmallPartBytes) break;
    ManifestPart both;
    AppendEntries(*last.part, &both);
    AppendEntries(*newest[0].part, &both);
    std::vector<LoggedPart> merged;
    ARROW_RETURN_NOT_OK(Write(std::move(both), &merged));
    if (merged.size() != 1 || merged[0].ref.object.size_bytes >= kSmallPartBytes) break;
    parts_.pop_back();
    newest = std::move(merged);
  }
  std::move(newest.begin(), newest.end(), std::back_inserter(parts_));
  return MergeFull();
}

arrow::Status PartsLog::MergeFull() {
  auto end = parts_.end();
  if (end[-1].ref.object.size_bytes < kSmallPartBytes) --end;  // Still open.
  auto begin = end;
  int64_t size_bytes = 0;
  while (begin != parts_.begin() && !IsLarge(begin[-1])) {
    --begin;
    size_bytes += begin->ref.object.size_bytes;
  }
  const auto count = static_cast<size_t>(end - begin);
  if (count < kMergeCount && (count < 2 || size_bytes < kPartBytesMax)) return arrow::Status::OK();

  ManifestPart merged;
  for (auto part = begin; part != end; ++part) AppendEntries(*part->part, &merged);
  std::vector<LoggedPart> written;
  ARROW_RETURN_NOT_OK(Write(std::move(merged), &written));
  const auto at = parts_.erase(begin, end);
  parts_.insert(at, std::make_move_iterator(written.begin()),
                std::make_move_iterator(written.end()));
  return arrow::Status::OK();
}

}  // namespace infino
