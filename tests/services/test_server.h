#pragma once

#include <map>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/storage/object_store.h"
#include "infino/storage/store_registry.h"

namespace infino {

/// The server that with_server.py has started for this process.
struct TestServer {
  std::string kind;  ///< As in "seaweedfs".
  std::string uri;   ///< Of an empty bucket.
  std::map<std::string, std::string> options;

  /// Opens what `below` names in the bucket, with `changes` to the options.
  [[nodiscard]] arrow::Result<OpenedStore> Open(
      const std::string& below, const std::map<std::string, std::string>& changes = {}) const;

  /// A prefix of the bucket that no test before has had.
  [[nodiscard]] static std::string FreshPrefix();
};

/// Null if this process was started without one.
[[nodiscard]] const TestServer* TheTestServer();

}  // namespace infino
