#include "infino/storage/cloud_bucket.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/fork.h"
#include "infino/error.h"
#include "infino/storage/cloud/infino_cloud.h"
#include "infino/storage/io_pool.h"
#include "infino/storage/object_store.h"

namespace infino {
namespace {

/// What comes back is handed on by these, so that the crate's own threads only move bytes.
constexpr int kAnswerThreads = 4;

infino_cloud_text TextOf(std::string_view text) {
  return {.data = text.data(), .size = text.size()};
}

std::string StringOf(infino_cloud_text text) {
  return text.size == 0 ? std::string() : std::string(text.data, text.size);
}

infino_cloud_kind KindOf(CloudKind kind) {
  switch (kind) {
    case CloudKind::kS3:
      return INFINO_CLOUD_S3;
    case CloudKind::kAzure:
      return INFINO_CLOUD_AZURE;
    case CloudKind::kGoogle:
      break;
  }
  return INFINO_CLOUD_GOOGLE;
}

CloudOutcome OutcomeOf(infino_cloud_outcome outcome) {
  switch (outcome) {
    case INFINO_CLOUD_DONE:
      return CloudOutcome::kDone;
    case INFINO_CLOUD_PRECONDITION_FAILED:
      return CloudOutcome::kPreconditionFailed;
    case INFINO_CLOUD_NOT_MODIFIED:
      return CloudOutcome::kNotModified;
    case INFINO_CLOUD_NOT_FOUND:
      return CloudOutcome::kNotFound;
    case INFINO_CLOUD_UNAVAILABLE:
      return CloudOutcome::kUnavailable;
    case INFINO_CLOUD_REFUSED:
      return CloudOutcome::kRefused;
    case INFINO_CLOUD_OUTSIDE_RANGE:
      return CloudOutcome::kOutsideRange;
    case INFINO_CLOUD_FAULT:
      break;
  }
  return CloudOutcome::kFault;
}

/// Bytes that the crate allocated.
class ReceivedBuffer final : public arrow::Buffer {
 public:
  ReceivedBuffer(const uint8_t* bytes, size_t size, void* owner)
      : arrow::Buffer(bytes, static_cast<int64_t>(size)), owner_(owner) {}

  ~ReceivedBuffer() override { infino_cloud_release_bytes(owner_); }

  ReceivedBuffer(const ReceivedBuffer&) = delete;
  ReceivedBuffer& operator=(const ReceivedBuffer&) = delete;
  ReceivedBuffer(ReceivedBuffer&&) = delete;
  ReceivedBuffer& operator=(ReceivedBuffer&&) = delete;

 private:
  void* owner_;
};

/// Lends a buffer to the crate.
infino_cloud_body Lend(std::shared_ptr<arrow::Buffer> bytes) {
  auto lent = std::make_unique<std::shared_ptr<arrow::Buffer>>(std::move(bytes));
  const arrow::Buffer& buffer = **lent;
  return {.data = buffer.data(),
          .size = static_cast<size_t>(buffer.size()),
          .release =
              [](void* owner) {
                const std::unique_ptr<std::shared_ptr<arrow::Buffer>> back(
                    static_cast<std::shared_ptr<arrow::Buffer>*>(owner));
              },
          .owner = lent.release()};
}

/// One request under way.
struct Call {
  std::shared_ptr<IoPool> pool;
  arrow::Future<CloudAnswer> done = arrow::Future<CloudAnswer>::Make();
};

}  // namespace

struct CloudBucket::Handle {
  Handle() = default;

  ~Handle() {
    // A parent's store belongs to threads that are not in this process.
    if (store != nullptr && generation == ForkGeneration()) infino_cloud_close(store);
  }

  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;

  std::shared_ptr<IoPool> pool;
  uint64_t generation = ForkGeneration();
  infino_cloud_store* store = nullptr;
};

struct CloudParts::Handle {
  Handle(std::shared_ptr<IoPool> answering, infino_cloud_upload* opened)
      : pool(std::move(answering)), upload(opened) {}

  ~Handle() {
    if (generation == ForkGeneration()) infino_cloud_close_upload(upload);
  }

  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&&) = delete;
  Handle& operator=(Handle&&) = delete;

  std::shared_ptr<IoPool> pool;
  uint64_t generation = ForkGeneration();
  infino_cloud_upload* upload;
};

namespace {

ObjectInfo InfoOf(const infino_cloud_entry& entry) {
  return {.path = StringOf(entry.key),
          .size = entry.size,
          .modified_ms = entry.modified_ms,
          .version = {.token = StringOf(entry.version)}};
}

CloudAnswer AnswerOf(const infino_cloud_answer& given, const std::shared_ptr<IoPool>& pool) {
  CloudAnswer answer{.outcome = OutcomeOf(given.outcome),
                     .message = StringOf(given.message),
                     .version = {.token = StringOf(given.object.version)},
                     .size = given.object.size,
                     .modified_ms = given.object.modified_ms,
                     .bytes = nullptr,
                     .objects = {},
                     .next_page = StringOf(given.next_page),
                     .parts = nullptr};
  if (given.bytes_owner != nullptr) {
    answer.bytes =
        std::make_shared<ReceivedBuffer>(given.bytes, given.byte_count, given.bytes_owner);
  }
  answer.objects.reserve(given.entry_count);
  for (size_t i = 0; i < given.entry_count; ++i) answer.objects.push_back(InfoOf(given.entries[i]));
  if (given.upload != nullptr) {
    answer.parts =
        std::make_shared<CloudParts>(std::make_unique<CloudParts::Handle>(pool, given.upload));
  }
  return answer;
}

/// What the crate calls when a request is over.
void Finish(void* context, const infino_cloud_answer* given) {
  const std::unique_ptr<Call> call(static_cast<Call*>(context));
  CloudAnswer answer = AnswerOf(*given, call->pool);
  IoPool& pool = *call->pool;
  // The task holds the pool, so that its last reference is not let go of on the crate's thread.
  const arrow::Status spawned =
      pool.Spawn([held = std::move(call->pool), done = call->done,
                  answer = std::move(answer)]() mutable { done.MarkFinished(std::move(answer)); });
  if (!spawned.ok()) call->done.MarkFinished(spawned);
}

/// Starts what `start` does with a callback and its context.
template <typename Start>
arrow::Future<CloudAnswer> Send(std::shared_ptr<IoPool> pool, const Start& start) {
  auto call = std::make_unique<Call>(Call{.pool = std::move(pool)});
  arrow::Future<CloudAnswer> done = call->done;
  start(&Finish, call.release());
  return done;
}

}  // namespace

arrow::Status CloudAnswer::ToStatus() const {
  switch (outcome) {
    case CloudOutcome::kDone:
      return arrow::Status::OK();
    case CloudOutcome::kNotFound:
      return MakeError(ErrorKind::kNotFound, message);
    case CloudOutcome::kUnavailable:
      return MakeError(ErrorKind::kUnavailable, message);
    case CloudOutcome::kRefused:
      return MakeError(ErrorKind::kInvalidArgument, message);
    case CloudOutcome::kOutsideRange:
      return MakeError(ErrorKind::kCorrupt, message);
    case CloudOutcome::kPreconditionFailed:
    case CloudOutcome::kNotModified:
    case CloudOutcome::kFault:
      break;
  }
  return MakeError(ErrorKind::kInternal, message);
}

CloudBucket::CloudBucket(OnlyOpen /*only*/) : handle_(std::make_unique<Handle>()) {}

CloudBucket::~CloudBucket() = default;

arrow::Result<std::shared_ptr<CloudBucket>> CloudBucket::Open(const CloudPlace& place) {
  auto bucket = std::make_shared<CloudBucket>(OnlyOpen{});
  ARROW_ASSIGN_OR_RAISE(bucket->handle_->pool, IoPool::Make(kAnswerThreads));
  // After the pools' own, so that it runs before: what they wait for is then all there is.
  [[maybe_unused]] static const bool kStops = std::atexit(&infino_cloud_stop) == 0;
  std::vector<infino_cloud_text> options;
  for (const auto& [key, value] : place.options) {
    options.push_back(TextOf(key));
    options.push_back(TextOf(value));
  }
  const infino_cloud_place opened{.kind = KindOf(place.kind),
                                  .bucket = TextOf(place.bucket),
                                  .options = options.data(),
                                  .option_count = options.size(),
                                  .generation = bucket->handle_->generation};
  std::string why;
  bucket->handle_->store = infino_cloud_open(
      &opened, &bucket->timeout_ms_,
      [](void* context, infino_cloud_text message) {
        *static_cast<std::string*>(context) = StringOf(message);
      },
      &why);
  if (bucket->handle_->store == nullptr) return MakeError(ErrorKind::kInvalidArgument, why);
  return bucket;
}

arrow::Future<CloudAnswer> CloudBucket::Get(std::string_view key) {
  return GetUnless(key, ObjectVersion());
}

arrow::Future<CloudAnswer> CloudBucket::GetUnless(std::string_view key,
                                                  const ObjectVersion& known) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_get(handle_->store, TextOf(key), TextOf(known.token), done, context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::GetRange(std::string_view key, ByteRange range) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_get_range(handle_->store, TextOf(key), static_cast<uint64_t>(range.offset),
                           static_cast<uint64_t>(range.length), done, context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::Head(std::string_view key) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_head(handle_->store, TextOf(key), done, context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::Put(std::string_view key,
                                            std::shared_ptr<arrow::Buffer> bytes,
                                            std::string_view expected) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_put(handle_->store, TextOf(key), Lend(std::move(bytes)), TextOf(expected), done,
                     context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::Create(std::string_view key,
                                               std::shared_ptr<arrow::Buffer> bytes) {
  return Put(key, std::move(bytes), {});
}

arrow::Future<CloudAnswer> CloudBucket::Replace(std::string_view key,
                                                std::shared_ptr<arrow::Buffer> bytes,
                                                const ObjectVersion& expected) {
  return Put(key, std::move(bytes), expected.token);
}

arrow::Future<CloudAnswer> CloudBucket::Delete(std::string_view key) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_delete(handle_->store, TextOf(key), done, context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::List(std::string_view prefix, std::string_view page) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_list(handle_->store, TextOf(prefix), TextOf(page), done, context);
  });
}

arrow::Future<CloudAnswer> CloudBucket::BeginUpload(std::string_view key) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_begin_upload(handle_->store, TextOf(key), done, context);
  });
}

CloudParts::CloudParts(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}

CloudParts::~CloudParts() = default;

arrow::Future<CloudAnswer> CloudParts::Put(int64_t number, std::shared_ptr<arrow::Buffer> bytes) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_put_part(handle_->upload, static_cast<uint64_t>(number), Lend(std::move(bytes)),
                          done, context);
  });
}

arrow::Future<CloudAnswer> CloudParts::Complete(int64_t part_count) {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_complete_upload(handle_->upload, static_cast<uint64_t>(part_count), done, context);
  });
}

arrow::Future<CloudAnswer> CloudParts::Abort() {
  return Send(handle_->pool, [&](infino_cloud_done done, void* context) {
    infino_cloud_abort_upload(handle_->upload, done, context);
  });
}

}  // namespace infino
