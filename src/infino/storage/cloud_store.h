#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/storage/cloud_bucket.h"
#include "infino/storage/object_store.h"

namespace infino {

/// An ObjectStore under a prefix of a bucket of S3, Azure or Google Cloud, or of a service that
/// speaks like one of them. Versions are ETags, on Google Cloud generations.
///
/// Answers of services are folded into outcomes: 412, and 404 to a put that expects a version, are
/// kPreconditionFailed; 409 (but for Azure's "exists already"), 408, 429, 5xx, a broken or silent
/// connection are kUnavailable; refused credentials, a missing bucket and a wrong region are
/// kInvalidArgument. Each message names bucket and endpoint.
struct OpenedCloudStore {
  std::shared_ptr<ObjectStore> store;

  /// How long an operation may take to get an answer, repetitions included; a request that is not
  /// answered fails after four tenths of it. What sends or receives many bytes may take longer, as
  /// long as they flow.
  int64_t timeout_ms = 0;
};

/// Opens it without a request. `prefix` is empty or a path. kInvalidArgument for options that can't
/// be; docs/storage.md lists those that can.
[[nodiscard]] arrow::Result<OpenedCloudStore> OpenCloudStore(const CloudPlace& place,
                                                             const std::string& prefix);

}  // namespace infino
