#pragma once

#include <memory>
#include <string>

#include "infino/storage/cloud_bucket.h"
#include "infino/storage/object_store.h"

namespace infino {

/// An upload to `key` of `bucket` whose parts go to `parts`.
[[nodiscard]] std::shared_ptr<ObjectUpload> MakeCloudUpload(std::shared_ptr<CloudBucket> bucket,
                                                            std::string key,
                                                            std::shared_ptr<CloudParts> parts);

}  // namespace infino
