#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"

namespace infino {

/// A store, and how its kind is used best.
struct OpenedStore {
  std::shared_ptr<ObjectStore> store;  ///< Bare: retries and counting are the caller's to wrap.
  RetryOptions retries = {};

  /// How old a snapshot may be, unless the caller has a wish.
  int64_t freshness_ms = 0;
};

/// Opens the store that `uri` names.
///
///   memory:// memory: memory     a new, empty store in memory
///   file://PATH, or just PATH    the folder PATH, created if absent; PATH is taken as it stands,
///                                so nothing is decoded and ~ is a name like any other
///   s3://BUCKET/PREFIX           a bucket of S3; the prefix is taken as it stands, and may be
///                                missing
///   az:// azure://               the same for a container of Azure
///   gs:// gcs://                 the same for a bucket of Google Cloud
///
/// Of the last three, options.storage_options say how to reach them; nothing is sent yet.
/// kInvalidArgument for an empty path or bucket, a scheme that is not known (schemes are
/// case-sensitive), options that can't be, and a path where a file is.
[[nodiscard]] arrow::Result<OpenedStore> OpenStore(std::string_view uri,
                                                   const ConnectOptions& options,
                                                   std::shared_ptr<Clock> clock);

}  // namespace infino
