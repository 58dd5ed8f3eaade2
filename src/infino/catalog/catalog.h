#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// The longest table name, in bytes.
inline constexpr size_t kTableNameMax = 200;

/// kInvalidArgument unless `name` is 1 to kTableNameMax of A-Z a-z 0-9 _ -, not starting with `_`.
[[nodiscard]] arrow::Status CheckTableName(std::string_view name);

/// The content of `_catalog/current`: which tables exist, and in which folder. No two versions of
/// it are equal, for its number is in it. Format: docs/format/catalog.md.
struct CatalogContent {
  uint64_t version = 0;                       ///< One more for each change; 0 if there is none yet.
  std::map<std::string, std::string> tables;  ///< Name to folder, in byte order.

  friend bool operator==(const CatalogContent&, const CatalogContent&) = default;
};

[[nodiscard]] std::shared_ptr<arrow::Buffer> EncodeCatalog(const CatalogContent& content);

/// kCorrupt for anything that EncodeCatalog would not have written, kUnsupportedVersion for a newer
/// format.
[[nodiscard]] arrow::Result<CatalogContent> DecodeCatalog(const arrow::Buffer& bytes);

/// Reads and swaps the catalog of one URI. Nothing else may write to it. It says nothing about
/// whether a table is alive: that its pointer knows. Thread-safe; blocks in Wait.
///
/// Every change is read, edit, conditional put, repeated until it took effect. An answer that never
/// came, and a failed condition (which may be the echo of an own earlier put), both lead to reading
/// again and looking whether the edit is there.
class Catalog {
 public:
  struct Options {
    std::shared_ptr<Clock> clock;
    std::shared_ptr<Random> random;
    int64_t timeout_ms = 60'000;  ///< How long a change tries to get its turn.
  };

  Catalog(std::shared_ptr<ObjectStore> store, Options options);

  /// All tables; none if nothing was ever created.
  [[nodiscard]] arrow::Result<CatalogContent> Read(const StopCondition& stop = {}) const;

  /// Names `folder` as table `name`, if the name is free or still stands for `replaced` (empty: it
  /// must be free). Returns the folder that the name stands for afterwards: another one than
  /// `folder` if somebody else has taken the name.
  ///
  /// kConflict if it never got its turn, and nothing was written; kCommitUnknown if the store did
  /// not say whether something was.
  [[nodiscard]] arrow::Result<std::string> Add(const std::string& name, const std::string& folder,
                                               const std::string& replaced) const;

  /// Takes `name` out if it still stands for `folder`. Fails as Add.
  [[nodiscard]] arrow::Status Remove(const std::string& name, const std::string& folder) const;

 private:
  struct Stored {
    CatalogContent content;
    std::optional<ObjectVersion> version;  ///< Nothing while there is no catalog.
  };

  /// Changes the content, or returns false if there is nothing to change (any more).
  using Edit = std::function<bool(CatalogContent&)>;

  [[nodiscard]] arrow::Result<Stored> Load(const StopCondition& stop) const;
  [[nodiscard]] arrow::Result<PutOutcome> TryPut(const Stored& previous, CatalogContent next) const;
  [[nodiscard]] arrow::Status Change(std::string_view what, const Edit& edit) const;
  void BackOff(int attempt) const;

  std::shared_ptr<ObjectStore> store_;
  Options options_;
};

}  // namespace infino
