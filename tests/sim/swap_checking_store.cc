#include "sim/swap_checking_store.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>
#include <gtest/gtest.h>

#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/part_codec.h"
#include "infino/manifest/root_codec.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"

namespace infino {
namespace {

arrow::Result<std::shared_ptr<arrow::Buffer>> Load(ObjectStore& store, const std::string& folder,
                                                   const ObjectRef& ref) {
  ARROW_ASSIGN_OR_RAISE(VersionedBytes object, Wait(store.Get(ObjectPath(folder, ref.name))));
  ARROW_RETURN_NOT_OK(CheckContent(ref, *object.bytes));
  return std::move(object.bytes);
}

arrow::Status CheckPart(ObjectStore& store, const std::string& folder, const ObjectRef& ref) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, Load(store, folder, ref));
  ARROW_ASSIGN_OR_RAISE(const ManifestPart part, DecodePart(*bytes, ref.name));
  for (const ObjectRef& summary : part.summaries) {
    ARROW_RETURN_NOT_OK(Load(store, folder, summary).status());
  }
  for (const SuperfileEntry& entry : part.entries) {
    const std::string path = SuperfilePath(folder, entry.id);
    ARROW_ASSIGN_OR_RAISE(const ObjectInfo info, Wait(store.Head(path)));
    if (info.size != entry.size_bytes) return MakeError(ErrorKind::kCorrupt, path + ": size");
    if (entry.tombstones) {
      ARROW_RETURN_NOT_OK(Load(store, folder, entry.tombstones->object).status());
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status CheckReachable(ObjectStore& store, const std::string& folder,
                             const arrow::Buffer& pointer) {
  ARROW_ASSIGN_OR_RAISE(const Pointer decoded, DecodePointer(pointer, PointerPath(folder)));
  ARROW_ASSIGN_OR_RAISE(const auto bytes, Load(store, folder, decoded.root));
  ARROW_ASSIGN_OR_RAISE(const ManifestRoot root, DecodeRoot(*bytes, decoded.root.name));
  const uint64_t version = decoded.dropped ? decoded.table_version - 1 : decoded.table_version;
  if (root.version != version) return MakeError(ErrorKind::kCorrupt, "wrong version in the root");
  if (root.parent) ARROW_RETURN_NOT_OK(Load(store, folder, *root.parent).status());
  for (const PartRef& part : root.parts) {
    ARROW_RETURN_NOT_OK(CheckPart(store, folder, part.object));
  }
  return arrow::Status::OK();
}

SwapCheckingStore::SwapCheckingStore(std::shared_ptr<ObjectStore> store, std::string folder)
    : ForwardingStore(std::move(store)), folder_(std::move(folder)) {}

void SwapCheckingStore::Check(std::string_view path, const arrow::Buffer& pointer) {
  if (path != PointerPath(folder_)) return;
  const arrow::Status status = CheckReachable(*store(), folder_, pointer);
  EXPECT_TRUE(status.ok()) << "a pointer took effect before what it reaches was there: "
                           << status.ToString();
}

arrow::Future<PutResult> SwapCheckingStore::PutIfAbsent(std::string_view path,
                                                        std::shared_ptr<arrow::Buffer> bytes) {
  const auto result = Wait(store()->PutIfAbsent(path, bytes));
  if (result.ok() && result->outcome == PutOutcome::kWritten) Check(path, *bytes);
  return result;
}

arrow::Future<PutResult> SwapCheckingStore::PutIfMatch(std::string_view path,
                                                       std::shared_ptr<arrow::Buffer> bytes,
                                                       const ObjectVersion& expected) {
  const auto result = Wait(store()->PutIfMatch(path, bytes, expected));
  if (result.ok() && result->outcome == PutOutcome::kWritten) Check(path, *bytes);
  return result;
}

}  // namespace infino
