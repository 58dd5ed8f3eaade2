#pragma once

#include <memory>
#include <string_view>

#include <arrow/util/future.h>

#include "infino/storage/io_pool.h"
#include "infino/storage/local_folder.h"
#include "infino/storage/object_store.h"

namespace infino::internal {

/// An upload into the temporary file that becomes the object. Its work runs on `pool`.
[[nodiscard]] arrow::Future<std::shared_ptr<ObjectUpload>> BeginLocalUpload(
    const std::shared_ptr<LocalFolder>& folder, const std::shared_ptr<IoPool>& pool,
    std::string_view path);

}  // namespace infino::internal
