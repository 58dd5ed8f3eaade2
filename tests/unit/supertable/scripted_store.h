#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/error.h"
#include "infino/storage/object_store.h"
#include "support/forwarding_store.h"

namespace infino {

/// What becomes of one conditional put.
enum class PutScript : uint8_t {
  kPass,
  kFailBefore,  ///< kUnavailable, nothing happened.
  kLoseAnswer,  ///< Took effect; kUnavailable.
  kLandLater,   ///< kUnavailable; takes effect when LandDelayed is called.
  kEcho,        ///< Took effect; says that the precondition failed.
  kRefuse,      ///< Nothing happened; says that the precondition failed.
  kDiskFull,    ///< kResourceExhausted, nothing happened.
};

/// Wraps a store: conditional puts follow a script (kPass when it has ended), every call is
/// counted, and a test can act between two calls. Single-threaded.
class ScriptedStore final : public ForwardingStore {
 public:
  explicit ScriptedStore(std::shared_ptr<ObjectStore> store) : ForwardingStore(std::move(store)) {}

  std::deque<PutScript> script;

  /// Called after every conditional put, before its answer is given.
  std::function<void()> after_put;

  /// Called before every whole read.
  std::function<void(std::string_view path)> before_get;

  /// If true, whole reads fail with kUnavailable.
  bool reads_fail = false;

  /// Whole reads by path, and ranges by path.
  std::map<std::string, int, std::less<>> gets;
  std::map<std::string, int, std::less<>> range_gets;
  int puts = 0;

  /// The bytes of each conditional put.
  std::vector<std::shared_ptr<arrow::Buffer>> sent;

  void LandDelayed() {
    for (const auto& put : std::exchange(delayed_, {})) put();
  }

  arrow::Future<VersionedBytes> Get(std::string_view path) override {
    if (before_get) before_get(path);
    ++gets[std::string(path)];
    if (reads_fail) return Unavailable<VersionedBytes>();
    return store()->Get(path);
  }

  arrow::Future<std::optional<VersionedBytes>> GetIfChanged(std::string_view path,
                                                            const ObjectVersion& known) override {
    if (before_get) before_get(path);
    ++gets[std::string(path)];
    return store()->GetIfChanged(path, known);
  }

  arrow::Future<std::shared_ptr<arrow::Buffer>> GetRange(std::string_view path,
                                                         ByteRange range) override {
    ++range_gets[std::string(path)];
    return store()->GetRange(path, range);
  }

  arrow::Future<PutResult> PutIfAbsent(std::string_view path,
                                       std::shared_ptr<arrow::Buffer> bytes) override {
    sent.push_back(bytes);
    return Put([this, at = std::string(path), bytes] { return store()->PutIfAbsent(at, bytes); });
  }

  arrow::Future<PutResult> PutIfMatch(std::string_view path, std::shared_ptr<arrow::Buffer> bytes,
                                      const ObjectVersion& expected) override {
    sent.push_back(bytes);
    return Put([this, at = std::string(path), bytes, expected] {
      return store()->PutIfMatch(at, bytes, expected);
    });
  }

 private:
  template <typename T>
  static arrow::Future<T> Unavailable() {
    return arrow::Future<T>::MakeFinished(MakeError(ErrorKind::kUnavailable, "scripted"));
  }

  arrow::Future<PutResult> Put(const std::function<arrow::Future<PutResult>()>& put) {
    ++puts;
    PutScript step = PutScript::kPass;
    if (!script.empty()) {
      step = script.front();
      script.pop_front();
    }
    auto answer = Answer(step, put);
    if (after_put) after_put();
    return answer;
  }

  arrow::Future<PutResult> Answer(PutScript step,
                                  const std::function<arrow::Future<PutResult>()>& put) {
    const PutResult failed{.outcome = PutOutcome::kPreconditionFailed, .version = {}};
    switch (step) {
      case PutScript::kPass:
        return put();
      case PutScript::kFailBefore:
        break;
      case PutScript::kLoseAnswer:
        put().Wait();
        break;
      case PutScript::kLandLater:
        delayed_.push_back([put] { put().Wait(); });
        break;
      case PutScript::kEcho:
        put().Wait();
        return arrow::Future<PutResult>::MakeFinished(failed);
      case PutScript::kRefuse:
        return arrow::Future<PutResult>::MakeFinished(failed);
      case PutScript::kDiskFull:
        return arrow::Future<PutResult>::MakeFinished(
            MakeError(ErrorKind::kResourceExhausted, "scripted"));
    }
    return Unavailable<PutResult>();
  }

  std::vector<std::function<void()>> delayed_;
};

}  // namespace infino
