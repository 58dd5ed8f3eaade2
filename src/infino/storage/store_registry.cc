#include "infino/storage/store_registry.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

using OpenedStore = arrow::Result<std::shared_ptr<ObjectStore>>;

/// A URI in two pieces: the scheme with its separator, and the rest as it stands.
struct StoreUri {
  std::string_view whole;
  std::string_view scheme;
  std::string_view rest;
};

StoreUri Split(std::string_view uri) {
  constexpr std::string_view kSeparator = "://";
  // The two short names of the memory store.
  if (uri == "memory" || uri == "memory:") return {.whole = uri, .scheme = "memory", .rest = {}};
  const size_t at = uri.find(kSeparator);
  if (at == std::string_view::npos) return {.whole = uri, .scheme = "file", .rest = uri};
  return {.whole = uri, .scheme = uri.substr(0, at), .rest = uri.substr(at + kSeparator.size())};
}

OpenedStore RefuseScheme(const StoreUri& uri) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "unsupported catalog URI scheme: " + std::string(uri.whole));
}

OpenedStore OpenMemory(const StoreUri& uri, const ConnectOptions& /*options*/,
                       std::shared_ptr<Clock> clock) {
  if (!uri.rest.empty()) return RefuseScheme(uri);
  return MakeMemoryStore(std::move(clock));
}

OpenedStore OpenLocal(const StoreUri& uri, const ConnectOptions& /*options*/,
                      std::shared_ptr<Clock> /*clock*/) {
  if (uri.rest.empty()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "the URI \"" + std::string(uri.whole) + "\" names no folder");
  }
  return OpenLocalStore(std::string(uri.rest));
}

OpenedStore RefuseObjectStore(const StoreUri& uri, const ConnectOptions& /*options*/,
                              std::shared_ptr<Clock> /*clock*/) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "object stores are not supported by this build: " + std::string(uri.whole));
}

struct StoreKind {
  std::string_view scheme;
  OpenedStore (*open)(const StoreUri&, const ConnectOptions&, std::shared_ptr<Clock>);
};

constexpr std::array kStoreKinds = {
    StoreKind{.scheme = "memory", .open = &OpenMemory},
    StoreKind{.scheme = "file", .open = &OpenLocal},
    StoreKind{.scheme = "s3", .open = &RefuseObjectStore},
    StoreKind{.scheme = "az", .open = &RefuseObjectStore},
    StoreKind{.scheme = "azure", .open = &RefuseObjectStore},
    StoreKind{.scheme = "gs", .open = &RefuseObjectStore},
    StoreKind{.scheme = "gcs", .open = &RefuseObjectStore},
};

}  // namespace

arrow::Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri,
                                                      const ConnectOptions& options,
                                                      std::shared_ptr<Clock> clock) {
  const StoreUri parts = Split(uri);
  for (const StoreKind& kind : kStoreKinds) {
    if (kind.scheme == parts.scheme) return kind.open(parts, options, std::move(clock));
  }
  return RefuseScheme(parts);
}

}  // namespace infino
