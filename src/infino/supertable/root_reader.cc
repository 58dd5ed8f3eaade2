#include "infino/supertable/root_reader.h"

#include <string>
#include <string_view>

#include <arrow/result.h>

#include "infino/common/wait.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/root_codec.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"

namespace infino {

arrow::Result<ManifestRoot> ReadRoot(ObjectStore& store, std::string_view folder,
                                     const ObjectRef& ref, const StopCondition& stop) {
  const std::string path = ObjectPath(folder, ref.name);
  ARROW_ASSIGN_OR_RAISE(const VersionedBytes read, Wait(store.Get(path), stop));
  ARROW_RETURN_NOT_OK(CheckContent(ref, *read.bytes));
  return DecodeRoot(*read.bytes, path);
}

arrow::Result<ManifestRoot> ReadRootOf(ObjectStore& store, std::string_view folder,
                                       const Pointer& pointer, const StopCondition& stop) {
  ManifestRoot root;
  if (pointer.root_copy != nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        root, DecodeRoot(*pointer.root_copy, "copy of " + ObjectPath(folder, pointer.root.name)));
  } else {
    ARROW_ASSIGN_OR_RAISE(root, ReadRoot(store, folder, pointer.root, stop));
  }
  if (!pointer.dropped &&
      (root.version != pointer.table_version || root.commit != pointer.recent_commits.front())) {
    return CorruptObject(PointerPath(folder), "the root is of another version or commit");
  }
  return root;
}

}  // namespace infino
