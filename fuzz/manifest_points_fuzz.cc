#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <arrow/buffer.h>

#include "infino/error.h"
#include "infino/manifest/points_codec.h"

// The bytes as reference points. What can be read can be written, and then reads the same.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const arrow::Buffer bytes(data, static_cast<int64_t>(size));
  const auto points = infino::DecodePoints(bytes, "fuzz");
  if (!points.ok()) {
    if (!infino::KindOf(points.status()).has_value()) std::abort();
    return 0;
  }
  const auto written = infino::EncodePoints(*points, {});
  if (!written.ok()) std::abort();
  const auto again = infino::DecodePoints(**written, "fuzz");
  if (!again.ok() || again->field_id != points->field_id || again->spread != points->spread ||
      again->list->id() != points->list->id()) {
    std::abort();
  }
  return 0;
}
