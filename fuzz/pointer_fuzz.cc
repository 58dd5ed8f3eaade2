#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "infino/error.h"
#include "infino/manifest/root_codec.h"
#include "infino/supertable/pointer.h"

// The bytes as a table's pointer, and its copy of the root as a root. What can be read can be
// written, and then reads the same.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const arrow::Buffer bytes(data, static_cast<int64_t>(size));
  const auto pointer = infino::DecodePointer(bytes, "fuzz");
  if (!pointer.ok()) {
    if (!infino::KindOf(pointer.status()).has_value()) std::abort();
    return 0;
  }
  if (pointer->root_copy != nullptr) {
    static_cast<void>(infino::DecodeRoot(*pointer->root_copy, "fuzz"));
  }
  const auto again = infino::DecodePointer(*infino::EncodePointer(*pointer), "fuzz");
  if (!again.ok() || again->root != pointer->root ||
      again->recent_commits != pointer->recent_commits) {
    std::abort();
  }
  return 0;
}
