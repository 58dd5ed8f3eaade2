#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/storage/object_store.h"

namespace infino {

/// Passes every call on to another store. A wrapper overrides what it cares about.
class ForwardingStore : public ObjectStore {
 public:
  arrow::Future<VersionedBytes> Get(std::string_view path) override { return store_->Get(path); }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    return store_->GetIfChanged(path, known);
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    return store_->GetRange(path, range);
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override { return store_->Head(path); }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    return store_->PutIfAbsent(path, std::move(bytes));
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    return store_->PutAllIfAbsent(std::move(objects));
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    return store_->BeginUpload(path);
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    return store_->PutIfMatch(path, std::move(bytes), expected);
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    return store_->List(prefix);
  }

  arrow::Future<> Delete(std::string_view path) override { return store_->Delete(path); }

 protected:
  explicit ForwardingStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}

  [[nodiscard]] const std::shared_ptr<ObjectStore>& store() const { return store_; }

 private:
  std::shared_ptr<ObjectStore> store_;
};

}  // namespace infino
