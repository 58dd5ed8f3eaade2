#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "infino/catalog/catalog.h"
#include "infino/error.h"

// The bytes as a catalog. What can be read can be written, and then reads the same.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const arrow::Buffer bytes(data, static_cast<int64_t>(size));
  const auto content = infino::DecodeCatalog(bytes);
  if (!content.ok()) {
    if (!infino::KindOf(content.status()).has_value()) std::abort();
    return 0;
  }
  const auto again = infino::DecodeCatalog(*infino::EncodeCatalog(*content));
  if (!again.ok() || !(*again == *content)) std::abort();
  return 0;
}
