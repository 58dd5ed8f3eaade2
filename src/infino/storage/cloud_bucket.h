#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/storage/object_store.h"

namespace infino {

enum class CloudKind : uint8_t { kS3, kAzure, kGoogle };

/// A bucket, or a container of Azure, and the options it is reached with.
struct CloudPlace {
  CloudKind kind = CloudKind::kS3;
  std::string bucket;
  std::map<std::string, std::string> options;
};

/// What a request to a service came to.
enum class CloudOutcome : uint8_t {
  kDone,
  kPreconditionFailed,
  kNotModified,
  kNotFound,
  kUnavailable,
  kRefused,
  kOutsideRange,
  kFault,
};

class CloudParts;

/// The answer to one request. What a request does not concern is empty.
struct CloudAnswer {
  CloudOutcome outcome = CloudOutcome::kDone;
  std::string message;  ///< Of a failure; names object and endpoint.
  ObjectVersion version;
  int64_t size = 0;
  int64_t modified_ms = 0;
  std::shared_ptr<arrow::Buffer> bytes;
  std::vector<ObjectInfo> objects;  ///< With keys for paths.
  std::string next_page;
  std::shared_ptr<CloudParts> parts;

  /// OK, or the error that the outcome is.
  [[nodiscard]] arrow::Status ToStatus() const;
};

/// Requests to one bucket, by the crate in cloud/: each is sent once, or fails by itself in time.
/// Futures complete on threads of a pool. Thread-safe. What is under way when the process ends may
/// never complete. In a forked child nothing may be called but the destructor, which leaves all to
/// the parent.
class CloudBucket {
  struct OnlyOpen {};
  struct Handle;

 public:
  /// Sends nothing. kInvalidArgument for options that can't be, naming them.
  [[nodiscard]] static arrow::Result<std::shared_ptr<CloudBucket>> Open(const CloudPlace& place);

  explicit CloudBucket(OnlyOpen only);
  ~CloudBucket();
  CloudBucket(const CloudBucket&) = delete;
  CloudBucket& operator=(const CloudBucket&) = delete;
  CloudBucket(CloudBucket&&) = delete;
  CloudBucket& operator=(CloudBucket&&) = delete;

  [[nodiscard]] arrow::Future<CloudAnswer> Get(std::string_view key);

  /// kNotModified if the object still is `known`; but a service may send it all the same.
  [[nodiscard]] arrow::Future<CloudAnswer> GetUnless(std::string_view key,
                                                     const ObjectVersion& known);

  /// Comes back short where the object ends. REQUIRES: a range of some bytes.
  [[nodiscard]] arrow::Future<CloudAnswer> GetRange(std::string_view key, ByteRange range);

  [[nodiscard]] arrow::Future<CloudAnswer> Head(std::string_view key);

  /// Writes if nothing is there.
  [[nodiscard]] arrow::Future<CloudAnswer> Create(std::string_view key,
                                                  std::shared_ptr<arrow::Buffer> bytes);

  /// Writes if `expected` is there. REQUIRES: it is not empty.
  [[nodiscard]] arrow::Future<CloudAnswer> Replace(std::string_view key,
                                                   std::shared_ptr<arrow::Buffer> bytes,
                                                   const ObjectVersion& expected);

  [[nodiscard]] arrow::Future<CloudAnswer> Delete(std::string_view key);

  /// One page of a listing, in no order; `page` is empty or the next_page before.
  [[nodiscard]] arrow::Future<CloudAnswer> List(std::string_view prefix, std::string_view page);

  /// The answer has the `parts`.
  [[nodiscard]] arrow::Future<CloudAnswer> BeginUpload(std::string_view key);

  /// How long an operation may take to get an answer, repetitions included.
  [[nodiscard]] int64_t timeout_ms() const { return timeout_ms_; }

 private:
  friend class CloudParts;

  arrow::Future<CloudAnswer> Put(std::string_view key, std::shared_ptr<arrow::Buffer> bytes,
                                 std::string_view expected);

  std::unique_ptr<Handle> handle_;
  int64_t timeout_ms_ = 0;
};

/// An object under way to a bucket in parts. Thread-safe. Letting go of it ends nothing at the
/// service.
class CloudParts {
 public:
  struct Handle;

  explicit CloudParts(std::unique_ptr<Handle> handle);
  ~CloudParts();
  CloudParts(const CloudParts&) = delete;
  CloudParts& operator=(const CloudParts&) = delete;
  CloudParts(CloudParts&&) = delete;
  CloudParts& operator=(CloudParts&&) = delete;

  [[nodiscard]] arrow::Future<CloudAnswer> Put(int64_t number,
                                               std::shared_ptr<arrow::Buffer> bytes);

  /// kNotFound: the service does not know the upload, maybe since it is complete.
  [[nodiscard]] arrow::Future<CloudAnswer> Complete(int64_t part_count);

  [[nodiscard]] arrow::Future<CloudAnswer> Abort();

 private:
  std::unique_ptr<Handle> handle_;
};

}  // namespace infino
