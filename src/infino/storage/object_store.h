#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"

namespace infino {

/// Names one version of an object. Opaque: compared for equality and sent back, never parsed.
/// S3 and Azure give an ETag, GCS a generation, the local store a content hash. On some of them
/// equal bytes have an equal version, so an object that is swapped must never repeat its bytes.
struct ObjectVersion {
  std::string token;

  friend bool operator==(const ObjectVersion&, const ObjectVersion&) = default;
};

struct ObjectInfo {
  std::string path;
  int64_t size = 0;
  int64_t modified_ms = 0;  ///< Unix time by the store's clock, not ours.
  ObjectVersion version;    ///< Empty in listings of stores that don't tell it there.
};

struct VersionedBytes {
  std::shared_ptr<arrow::Buffer> bytes;
  ObjectVersion version;
};

/// What one conditional write came to.
enum class PutOutcome : uint8_t {
  kWritten,
  kPreconditionFailed,  ///< Another version is there. Nothing was changed.
};

struct PutResult {
  PutOutcome outcome = PutOutcome::kWritten;
  ObjectVersion version;  ///< Of the object just written; empty if nothing was.
};

/// An object to be written under a name that nothing had before.
struct StagedObject {
  std::string path;
  std::shared_ptr<arrow::Buffer> bytes;
};

/// Every part of an upload but the last has this many bytes: no less than any service asks for.
inline constexpr int64_t kUploadPartBytes = int64_t{8} << 20;

/// An object that is sent in parts, since it is too large to be in memory. Nobody sees anything of
/// it before Complete has succeeded. Thread-safe.
///
/// An upload that is let go of without Complete or Abort ends as by Abort, as far as that can be
/// done at once; what a service keeps of it is for its own rules to clear. The same goes for a
/// killed process.
class ObjectUpload {
 public:
  virtual ~ObjectUpload() = default;

  /// Sends part `number`, counted from 0. Parts may be under way side by side, each with its bytes
  /// in memory, in any order; a part may be sent again, with the same bytes. kInvalidArgument
  /// unless `bytes` are some and at most kUploadPartBytes.
  [[nodiscard]] virtual arrow::Future<> PutPart(int64_t number,
                                                std::shared_ptr<arrow::Buffer> bytes) = 0;

  /// Creates the object of parts 0 to `part_count` - 1, durably, or reports kPreconditionFailed if
  /// the path is taken. After kUnavailable it may be called again, and then may find the path taken
  /// by itself. kInvalidArgument unless just these parts were sent, at least one, all but the last
  /// of full length. REQUIRES: no part is under way.
  [[nodiscard]] virtual arrow::Future<PutOutcome> Complete(int64_t part_count) = 0;

  /// Ends the upload and removes its parts. Does nothing to an object that was completed. REQUIRES:
  /// nothing is under way.
  [[nodiscard]] virtual arrow::Future<> Abort() = 0;
};

/// A flat namespace of immutable objects, with one conditional write.
///
/// Paths are UTF-8, '/'-separated and relative to the store's root. A path with an empty, "." or
/// ".." segment is kInvalidArgument. Calls may return a finished future (memory, small local reads)
/// or complete later, on any thread: continuations must not block. All calls are thread-safe.
///
/// Failures carry kNotFound, kUnavailable, kResourceExhausted (disk full) or kCancelled. A failed
/// precondition is an outcome, not a failure. Implementations do not retry: RetryingStore does that
/// for reads and staging, PointerStore for the swap.
///
/// To add a store, write one file that implements this class, add its line to store_registry.cc,
/// and instantiate tests/conformance/object_store_conformance.h for it.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Reads the whole object with its version. Meant for small objects: the pointer, manifests.
  [[nodiscard]] virtual arrow::Future<VersionedBytes> Get(std::string_view path) = 0;

  /// Get, or nothing if the object still is `known`. kNotFound if it is gone.
  [[nodiscard]] virtual arrow::Future<std::optional<VersionedBytes>> GetIfChanged(
      std::string_view path, const ObjectVersion& known) = 0;

  /// Reads one range. A range past the end fails with kCorrupt rather than coming back short.
  [[nodiscard]] virtual arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(
      std::string_view path, ByteRange range) = 0;

  /// Looks the object up without reading it.
  [[nodiscard]] virtual arrow::Future<ObjectInfo> Head(std::string_view path) = 0;

  /// Creates the object, durably, or reports kPreconditionFailed if the path is taken.
  [[nodiscard]] virtual arrow::Future<PutResult> PutIfAbsent(
      std::string_view path, std::shared_ptr<arrow::Buffer> bytes) = 0;

  /// PutIfAbsent of every object, in parallel; outcomes in the order of `objects`. Durable as a
  /// whole when it succeeds; after a failure any of them may be there. A store that syncs folders
  /// does so once a folder.
  [[nodiscard]] virtual arrow::Future<std::vector<PutOutcome>> PutAllIfAbsent(
      std::vector<StagedObject> objects) = 0;

  /// Starts to send an object in parts. Whether the path is taken is found out in the end.
  [[nodiscard]] virtual arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(
      std::string_view path) = 0;

  /// Replaces the object, durably, if it still is `expected`. An absent object is
  /// kPreconditionFailed too, whatever status code the service gives it.
  [[nodiscard]] virtual arrow::Future<PutResult> PutIfMatch(std::string_view path,
                                                            std::shared_ptr<arrow::Buffer> bytes,
                                                            const ObjectVersion& expected) = 0;

  /// Lists every object whose path starts with `prefix`, in byte order of their paths.
  [[nodiscard]] virtual arrow::Future<std::vector<ObjectInfo>> List(std::string_view prefix) = 0;

  /// Deletes the object. Deleting an absent object succeeds.
  [[nodiscard]] virtual arrow::Future<> Delete(std::string_view path) = 0;
};

}  // namespace infino
