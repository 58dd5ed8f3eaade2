#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "infino/error.h"
#include "infino/manifest/root_codec.h"

// The bytes as a manifest root. What can be read can be written.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const arrow::Buffer bytes(data, static_cast<int64_t>(size));
  const auto root = infino::DecodeRoot(bytes, "fuzz");
  if (!root.ok()) {
    if (!infino::KindOf(root.status()).has_value()) std::abort();
    return 0;
  }
  const auto written = infino::EncodeRoot(*root);
  if (!written.ok()) std::abort();
  return 0;
}
