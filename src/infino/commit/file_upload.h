#pragma once

#include <functional>
#include <memory>
#include <string>

#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>

#include "infino/common/scratch.h"
#include "infino/storage/object_store.h"

namespace infino {

/// What an upload needs beside its file.
struct FileUploadOptions {
  /// Has a task run soon, which reads from the scratch file; its failure ends the upload. Not
  /// called under any lock.
  std::function<arrow::Status(arrow::internal::FnOnce<void()> task)> spawn;

  /// So many parts are in memory at most.
  int parts_in_memory = 1;
};

/// Sends the whole of `file`, which is not empty, to the store as one object under a path that
/// nothing had before, part by part. After a failure the upload was aborted; kPreconditionFailed if
/// the path was taken. No thread waits.
[[nodiscard]] arrow::Future<PutOutcome> UploadFile(std::shared_ptr<ObjectStore> store,
                                                   std::string path,
                                                   std::shared_ptr<const ScratchFile> file,
                                                   FileUploadOptions options);

}  // namespace infino
