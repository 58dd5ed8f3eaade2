#include "infino/storage/metered_store.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

int64_t SizeOf(const VersionedBytes& read) {
  return read.bytes->size();
}

int64_t SizeOf(const std::optional<VersionedBytes>& read) {
  return read.has_value() ? SizeOf(*read) : 0;
}

int64_t SizeOf(const std::shared_ptr<arrow::Buffer>& read) {
  return read->size();
}

/// Adds the bytes of what arrives to `*total`, which `owner` keeps alive, before anybody sees it.
template <typename T>
arrow::Future<T> CountArrival(arrow::Future<T> future, std::shared_ptr<StoreMeter> owner,
                              std::atomic<int64_t>* total) {
  if (future.is_finished()) {
    if (future.result().ok()) *total += SizeOf(*future.result());
    return future;
  }
  auto counted = arrow::Future<T>::Make();
  future.AddCallback(
      [counted, owner = std::move(owner), total](const arrow::Result<T>& result) mutable {
        if (result.ok()) *total += SizeOf(*result);
        counted.MarkFinished(result);
      });
  return counted;
}

}  // namespace

StoreCounters StoreCounters::Since(const StoreCounters& earlier) const {
  return {.get = get - earlier.get,
          .get_if_changed = get_if_changed - earlier.get_if_changed,
          .get_range = get_range - earlier.get_range,
          .head = head - earlier.head,
          .put_if_absent = put_if_absent - earlier.put_if_absent,
          .upload = upload - earlier.upload,
          .put_if_match = put_if_match - earlier.put_if_match,
          .list = list - earlier.list,
          .remove = remove - earlier.remove,
          .bytes_read = bytes_read - earlier.bytes_read,
          .bytes_written = bytes_written - earlier.bytes_written};
}

StoreCounters StoreMeter::Snapshot() const {
  return {.get = get_,
          .get_if_changed = get_if_changed_,
          .get_range = get_range_,
          .head = head_,
          .put_if_absent = put_if_absent_,
          .upload = upload_,
          .put_if_match = put_if_match_,
          .list = list_,
          .remove = remove_,
          .bytes_read = bytes_read_,
          .bytes_written = bytes_written_};
}

class MeteredUpload final : public ObjectUpload {
 public:
  MeteredUpload(std::shared_ptr<ObjectUpload> upload, std::shared_ptr<StoreMeter> meter)
      : upload_(std::move(upload)), meter_(std::move(meter)) {}

  arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
    ++meter_->upload_;
    meter_->bytes_written_ += bytes->size();
    return upload_->PutPart(number, std::move(bytes));
  }

  arrow::Future<PutOutcome> Complete(int64_t part_count) override {
    ++meter_->upload_;
    return upload_->Complete(part_count);
  }

  arrow::Future<> Abort() override {
    ++meter_->upload_;
    return upload_->Abort();
  }

 private:
  const std::shared_ptr<ObjectUpload> upload_;
  const std::shared_ptr<StoreMeter> meter_;
};

class MeteredStore final : public ObjectStore {
 public:
  MeteredStore(std::shared_ptr<ObjectStore> store, std::shared_ptr<StoreMeter> meter)
      : store_(std::move(store)), meter_(std::move(meter)) {}

  arrow::Future<VersionedBytes> Get(std::string_view path) override {
    ++meter_->get_;
    return CountArrival(store_->Get(path), meter_, &meter_->bytes_read_);
  }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    ++meter_->get_if_changed_;
    return CountArrival(store_->GetIfChanged(path, known), meter_, &meter_->bytes_read_);
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    ++meter_->get_range_;
    return CountArrival(store_->GetRange(path, range), meter_, &meter_->bytes_read_);
  }

  arrow::Future<ObjectInfo> Head(std::string_view path) override {
    ++meter_->head_;
    return store_->Head(path);
  }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    ++meter_->put_if_absent_;
    meter_->bytes_written_ += bytes->size();
    return store_->PutIfAbsent(path, std::move(bytes));
  }

  arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) override {
    meter_->put_if_absent_ += static_cast<int64_t>(objects.size());
    for (const StagedObject& object : objects) meter_->bytes_written_ += object.bytes->size();
    return store_->PutAllIfAbsent(std::move(objects));
  }

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    ++meter_->upload_;
    return store_->BeginUpload(path).Then(
        [meter =
             meter_](const std::shared_ptr<ObjectUpload>& upload) -> std::shared_ptr<ObjectUpload> {
          return std::make_shared<MeteredUpload>(upload, meter);
        });
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    ++meter_->put_if_match_;
    meter_->bytes_written_ += bytes->size();
    return store_->PutIfMatch(path, std::move(bytes), expected);
  }

  arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) override {
    ++meter_->list_;
    return store_->List(prefix);
  }

  arrow::Future<> Delete(std::string_view path) override {
    ++meter_->remove_;
    return store_->Delete(path);
  }

 private:
  const std::shared_ptr<ObjectStore> store_;
  const std::shared_ptr<StoreMeter> meter_;
};

std::shared_ptr<ObjectStore> MakeMeteredStore(std::shared_ptr<ObjectStore> store,
                                              std::shared_ptr<StoreMeter> meter) {
  return std::make_shared<MeteredStore>(std::move(store), std::move(meter));
}

}  // namespace infino
