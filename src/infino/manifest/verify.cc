#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/root_codec.h"
#include "infino/manifest/totals.h"

namespace infino {
namespace {

arrow::Status Wrong(const NextVersion& next, std::string_view what) {
  return MakeError(ErrorKind::kInternal, "publish version " + std::to_string(next.root.version) +
                                             ": " + std::string(what));
}

arrow::Status VerifyOrder(const BaseVersion* base, const NextVersion& next) {
  const ManifestRoot& root = next.root;
  if (root.version != (base == nullptr ? 1 : base->root->version + 1)) {
    return Wrong(next, "it does not follow the version before");
  }
  if (root.parent.has_value() != (base != nullptr) ||
      (base != nullptr && *root.parent != base->root_object)) {
    return Wrong(next, "its parent is not the version before");
  }
  if (root.versions.empty() || root.versions.front().version != root.version ||
      root.versions.front().commit != root.commit) {
    return Wrong(next, "its history does not start with it");
  }
  return arrow::Status::OK();
}

/// Checks a version's objects. Looks only at parts that the base does not have; what they name is
/// looked up in what was written and then, all at once, in the base.
class ObjectsCheck {
 public:
  ObjectsCheck(const BaseVersion* base, const NextVersion& next,
               std::span<const WrittenSuperfile> written)
      : base_(base), next_(next), written_(written) {}

  [[nodiscard]] arrow::Status Run() {
    CollectKnown();
    ManifestTotals sum;
    for (size_t i = 0; i < next_.parts.size(); ++i) {
      ARROW_RETURN_NOT_OK(CheckPart(next_.root.parts[i], *next_.parts[i]));
      ARROW_RETURN_NOT_OK(AddTotals(next_.root.parts[i].totals, &sum));
    }
    ARROW_RETURN_NOT_OK(CheckPoints());
    if (sum != next_.root.totals) return Wrong(next_, "the parts don't add up to the totals");
    if (!IsStaged(next_.root_object) || !CheckContent(next_.root_object, *next_.root_bytes).ok()) {
      return Wrong(next_, "the root is not staged");
    }
    if (base_ != nullptr) LookUpInBase();
    if (!files_.empty()) {
      return Wrong(next_, "superfile " + files_.begin()->first.ToHex() +
                              " was not written, or is not what was written");
    }
    if (!tombstones_.empty()) {
      return Wrong(next_, tombstones_.begin()->second->tombstones->object.name + " is not staged");
    }
    if (!summaries_.empty()) return Wrong(next_, *summaries_.begin() + " is not staged");
    if (has_duplicate_) return Wrong(next_, "a superfile is listed twice");
    return arrow::Status::OK();
  }

 private:
  void CollectKnown() {
    for (const NamedObject& object : next_.objects) staged_.emplace(object.ref.name, &object);
    for (const WrittenSuperfile& file : written_) sizes_.emplace(file.id, file.size_bytes);
    if (base_ == nullptr) return;
    for (const PartRef& ref : base_->root->parts) base_parts_.emplace(ref.object.name, &ref);
  }

  [[nodiscard]] bool IsStaged(const ObjectRef& ref) const {
    const auto found = staged_.find(ref.name);
    return found != staged_.end() && found->second->ref == ref &&
           found->second->bytes->size() == ref.size_bytes;
  }

  [[nodiscard]] arrow::Status CheckPart(const PartRef& ref, const ManifestPart& part) {
    if (const auto old = base_parts_.find(ref.object.name); old != base_parts_.end()) {
      if (*old->second != ref) return Wrong(next_, ref.object.name + " changed");
      kept_parts_.insert(ref.object.name);
      return arrow::Status::OK();
    }
    if (!IsStaged(ref.object)) return Wrong(next_, ref.object.name + " is not staged");
    ARROW_ASSIGN_OR_RAISE(const ManifestTotals totals, TotalsOf(part));
    if (totals != ref.totals) return Wrong(next_, ref.object.name + " does not add up");
    for (const ObjectRef& summary : part.summaries) {
      if (!IsStaged(summary)) summaries_.insert(summary.name);
    }
    for (const SuperfileEntry& entry : part.entries) {
      if (!listed_.insert(entry.id).second) has_duplicate_ = true;
      const auto size = sizes_.find(entry.id);
      const bool is_written = size != sizes_.end() && size->second == entry.size_bytes;
      if (!is_written) files_.emplace(entry.id, &entry);
      if (entry.tombstones && !IsStaged(entry.tombstones->object)) {
        tombstones_.emplace(entry.id, &entry);
      }
    }
    return arrow::Status::OK();
  }

  /// Reference points are never taken away, but with their column: files name them.
  [[nodiscard]] arrow::Status CheckPoints() const {
    const auto& refs = next_.root.points;
    for (size_t i = 0; i < refs.size(); ++i) {
      if (refs[i].field_id != next_.points[i].field_id) {
        return Wrong(next_, refs[i].object.name + " is of another column");
      }
      const bool is_known =
          base_ != nullptr && std::ranges::count(base_->root->points, refs[i]) > 0;
      if (!is_known && !IsStaged(refs[i].object)) {
        return Wrong(next_, refs[i].object.name + " is not staged");
      }
    }
    if (base_ == nullptr) return arrow::Status::OK();
    for (const PointsRef& before : base_->root->points) {
      const int64_t expected = next_.root.schema.IsDropped(before.field_id) ? 0 : 1;
      if (std::ranges::count(refs, before) != expected) {
        return Wrong(next_, before.object.name + " is named no more, or twice");
      }
    }
    return arrow::Status::OK();
  }

  void LookUpInBase() {
    for (size_t i = 0; i < base_->parts.size(); ++i) {
      const ManifestPart& part = *base_->parts[i];
      const bool is_kept = kept_parts_.contains(base_->root->parts[i].object.name);
      for (const ObjectRef& summary : part.summaries) summaries_.erase(summary.name);
      for (const SuperfileEntry& entry : part.entries) {
        if (is_kept && listed_.contains(entry.id)) has_duplicate_ = true;
        if (const auto kept = tombstones_.find(entry.id);
            kept != tombstones_.end() && kept->second->tombstones == entry.tombstones) {
          tombstones_.erase(kept);
        }
        const auto wanted = files_.find(entry.id);
        if (wanted == files_.end()) continue;
        const SuperfileEntry& now = *wanted->second;
        if (now.hash == entry.hash && now.size_bytes == entry.size_bytes) files_.erase(wanted);
      }
    }
  }

  const BaseVersion* base_;
  const NextVersion&
      next_;  // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): a local of Verify.
  std::span<const WrittenSuperfile> written_;

  std::unordered_map<std::string, const NamedObject*> staged_;
  std::unordered_map<std::string, const PartRef*> base_parts_;
  std::unordered_map<SuperfileId, int64_t, RandomIdHash> sizes_;
  std::unordered_set<std::string> kept_parts_;
  std::unordered_set<SuperfileId, RandomIdHash> listed_;  ///< In new parts.
  bool has_duplicate_ = false;

  /// Still to be found.
  std::unordered_map<SuperfileId, const SuperfileEntry*, RandomIdHash> files_;
  std::unordered_map<SuperfileId, const SuperfileEntry*, RandomIdHash> tombstones_;
  std::unordered_set<std::string> summaries_;
};

}  // namespace

arrow::Status Verify(const BaseVersion* base, const NextVersion& next,
                     std::span<const WrittenSuperfile> written) {
  ARROW_RETURN_NOT_OK(VerifyOrder(base, next));
  if (next.parts.size() != next.root.parts.size()) {
    return Wrong(next, "parts and their names differ in number");
  }
  if (next.points.size() != next.root.points.size()) {
    return Wrong(next, "lists of reference points and their names differ in number");
  }
  return ObjectsCheck(base, next, written).Run();
}

}  // namespace infino
