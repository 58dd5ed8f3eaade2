#pragma once

#include <string>
#include <string_view>

#include "infino/common/ids.h"

namespace infino {

/// Where everything lies under a connection's URI (docs/format/overview.md). All paths are relative
/// to the store's root, so they go to an ObjectStore as they are.

/// The catalog's one object: "_catalog/current".
[[nodiscard]] std::string CatalogPath();

/// The folder of a new table, "<name>-<32 hex digits>": never used before, also if the name was.
/// Characters of `name` other than letters, digits, '_' and '-' become '_', so that any name makes
/// one valid path segment; long names are cut. The catalog has the name itself.
[[nodiscard]] std::string TableFolder(std::string_view name, const CommitId& unique);

/// "<folder>/_supertable/current".
[[nodiscard]] std::string PointerPath(std::string_view folder);

/// The path of an object of a table, from its name as manifests have it: "<folder>/<name>".
[[nodiscard]] std::string ObjectPath(std::string_view folder, std::string_view name);

/// "<folder>/data/<superfile>.parquet".
[[nodiscard]] std::string SuperfilePath(std::string_view folder, const SuperfileId& id);

}  // namespace infino
