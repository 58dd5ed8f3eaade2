#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/storage/object_store.h"
#include "support/forwarding_store.h"

namespace infino {

/// Wraps a memory store and checks what PointerStore can't: whenever a pointer takes effect, every
/// object that can be reached from it is in the store already. A breach fails the running test.
class SwapCheckingStore final : public ForwardingStore {
 public:
  SwapCheckingStore(std::shared_ptr<ObjectStore> store, std::string folder);

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override;
  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override;

 private:
  void Check(std::string_view path, const arrow::Buffer& pointer);

  std::string folder_;
};

/// OK if everything that `pointer` reaches is in the store with the content that its name and entry
/// say.
[[nodiscard]] arrow::Status CheckReachable(ObjectStore& store, const std::string& folder,
                                           const arrow::Buffer& pointer);

}  // namespace infino
