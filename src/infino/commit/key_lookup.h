#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <arrow/result.h>

#include "infino/common/ids.h"
#include "infino/manifest/manifest.h"
#include "infino/query/query_environment.h"
#include "infino/query/row_selection.h"
#include "infino/superfile/table_schema.h"

namespace infino {

/// Rows that have some of the keys.
struct KeyMatches {
  RowSelection rows;
  std::unordered_map<size_t, RowId> ids;  ///< By place of the key among those looked up.
};

/// Finds rows by the values of one column: superfiles that their statistics don't rule out are
/// read, that column alone. Or by `_id`, without reading. Thread-safe.
class KeyLookup {
 public:
  /// `column` of the table is a stored one of a key type, null for `_id`; `keys` are distinct and
  /// as KeysOf gives them.
  KeyLookup(const TableColumn* column, std::vector<std::string> keys);

  /// The rows of `entries`, superfiles of the context's snapshot, that have one of the keys and are
  /// not deleted. kInvalidArgument, naming the key, if several have the same. Blocks in Wait.
  [[nodiscard]] arrow::Result<KeyMatches> Find(
      const QueryContext& context, std::span<const SuperfileEntry* const> entries) const;

 private:
  [[nodiscard]] arrow::Result<KeyMatches> FindIds(
      const QueryContext& context, std::span<const SuperfileEntry* const> entries) const;

  const TableColumn* column_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace infino
