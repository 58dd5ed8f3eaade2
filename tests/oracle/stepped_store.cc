#include "oracle/stepped_store.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

StopCondition SteppedStore::Start() {
  const std::lock_guard lock(mutex_);
  stepping_ = true;
  rounds_ = 0;
  read_count_ = 0;
  StopCondition stop;
  stop.poll = [this] {
    AnswerAll();
    return false;
  };
  return stop;
}

int SteppedStore::Stop() {
  AnswerAll();
  const std::lock_guard lock(mutex_);
  stepping_ = false;
  return rounds_;
}

template <typename T>
arrow::Future<T> SteppedStore::Hold(arrow::Future<T> read) {
  const std::lock_guard lock(mutex_);
  if (!stepping_) return read;
  ++read_count_;
  auto answer = arrow::Future<T>::Make();
  // The stores below give finished futures.
  held_.push_back([answer, read]() mutable { answer.MarkFinished(read.result()); });
  return answer;
}

void SteppedStore::AnswerAll() {
  std::vector<std::function<void()>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(held_);
    if (!answers.empty()) ++rounds_;
  }
  for (const std::function<void()>& answer : answers) answer();
}

arrow::Future<VersionedBytes> SteppedStore::Get(std::string_view path) {
  return Hold(ForwardingStore::Get(path));
}

arrow::Future<std::optional<VersionedBytes>> SteppedStore::GetIfChanged(
    std::string_view path, const ObjectVersion& known) {
  return Hold(ForwardingStore::GetIfChanged(path, known));
}

arrow::Future<std::shared_ptr<arrow::Buffer>> SteppedStore::GetRange(std::string_view path,
                                                                     ByteRange range) {
  return Hold(ForwardingStore::GetRange(path, range));
}

arrow::Future<ObjectInfo> SteppedStore::Head(std::string_view path) {
  return Hold(ForwardingStore::Head(path));
}

arrow::Future<std::vector<ObjectInfo>> SteppedStore::List(std::string_view prefix) {
  return Hold(ForwardingStore::List(prefix));
}

}  // namespace infino
