#include "infino/storage/store_registry.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/cloud_bucket.h"
#include "infino/storage/cloud_store.h"
#include "infino/storage/local_store.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"

namespace infino {
namespace {

/// How old a snapshot may be where asking costs a request.
constexpr int64_t kCloudFreshnessMs = 1000;

using Opened = arrow::Result<OpenedStore>;

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

Opened RefuseScheme(const StoreUri& uri) {
  return MakeError(ErrorKind::kInvalidArgument,
                   "unsupported catalog URI scheme: " + std::string(uri.whole));
}

Opened OpenMemory(const StoreUri& uri, const ConnectOptions& /*options*/,
                  std::shared_ptr<Clock> clock) {
  if (!uri.rest.empty()) return RefuseScheme(uri);
  return OpenedStore{.store = MakeMemoryStore(std::move(clock))};
}

Opened OpenLocal(const StoreUri& uri, const ConnectOptions& /*options*/,
                 std::shared_ptr<Clock> /*clock*/) {
  if (uri.rest.empty()) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "the URI \"" + std::string(uri.whole) + "\" names no folder");
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<ObjectStore> store, OpenLocalStore(std::string(uri.rest)));
  return OpenedStore{.store = std::move(store)};
}

/// Services drop a request now and then, and may be away for a moment: tries go on for as long as
/// the last of them can still fail within the time-out.
RetryOptions CloudRetries(int64_t timeout_ms) {
  return {.tries_max = 30,
          .first_delay_ms = 50,
          .longest_delay_ms = 1000,
          .deadline_ms = timeout_ms * 6 / 10};
}

Opened OpenCloud(CloudKind kind, const StoreUri& uri, const ConnectOptions& options) {
  const auto refuse = [&](const std::string& why) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "connect to " + std::string(uri.whole) + ": " + why);
  };
  const size_t slash = std::min(uri.rest.find('/'), uri.rest.size());
  if (slash == 0) return refuse("the URI names no bucket");
  std::string_view prefix = uri.rest.substr(std::min(slash + 1, uri.rest.size()));
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  const auto opened = OpenCloudStore({.kind = kind,
                                      .bucket = std::string(uri.rest.substr(0, slash)),
                                      .options = options.storage_options},
                                     std::string(prefix));
  if (!opened.ok()) return refuse(opened.status().message());
  return OpenedStore{.store = opened->store,
                     .retries = CloudRetries(opened->timeout_ms),
                     .freshness_ms = kCloudFreshnessMs};
}

template <CloudKind kind>
Opened OpenCloudOf(const StoreUri& uri, const ConnectOptions& options,
                   std::shared_ptr<Clock> /*clock*/) {
  return OpenCloud(kind, uri, options);
}

struct StoreKind {
  std::string_view scheme;
  Opened (*open)(const StoreUri&, const ConnectOptions&, std::shared_ptr<Clock>);
};

constexpr std::array kStoreKinds = {
    StoreKind{.scheme = "memory", .open = &OpenMemory},
    StoreKind{.scheme = "file", .open = &OpenLocal},
    StoreKind{.scheme = "s3", .open = &OpenCloudOf<CloudKind::kS3>},
    StoreKind{.scheme = "az", .open = &OpenCloudOf<CloudKind::kAzure>},
    StoreKind{.scheme = "azure", .open = &OpenCloudOf<CloudKind::kAzure>},
    StoreKind{.scheme = "gs", .open = &OpenCloudOf<CloudKind::kGoogle>},
    StoreKind{.scheme = "gcs", .open = &OpenCloudOf<CloudKind::kGoogle>},
};

}  // namespace

arrow::Result<OpenedStore> OpenStore(std::string_view uri, const ConnectOptions& options,
                                     std::shared_ptr<Clock> clock) {
  const StoreUri parts = Split(uri);
  for (const StoreKind& kind : kStoreKinds) {
    if (kind.scheme == parts.scheme) return kind.open(parts, options, std::move(clock));
  }
  return RefuseScheme(parts);
}

}  // namespace infino
