#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "infino/error.h"
#include "infino/manifest/part_codec.h"

// The bytes as a manifest part. What can be read can be written, and then reads the same.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const arrow::Buffer bytes(data, static_cast<int64_t>(size));
  const auto part = infino::DecodePart(bytes, "fuzz");
  if (!part.ok()) {
    if (!infino::KindOf(part.status()).has_value()) std::abort();
    return 0;
  }
  const auto written = infino::EncodePart(*part);
  if (!written.ok()) std::abort();
  const auto again = infino::DecodePart(**written, "fuzz");
  if (!again.ok() || again->entries.size() != part->entries.size()) std::abort();
  const auto rewritten = infino::EncodePart(*again);
  if (!rewritten.ok() || !(*rewritten)->Equals(**written)) std::abort();
  return 0;
}
