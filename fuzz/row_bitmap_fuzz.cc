#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "infino/codec/row_bitmap.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"

// Bytes that are accepted as a bitmap must be a sound one that is written and read back.

namespace infino {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckSound(const RowBitmap& bitmap, uint64_t row_count) {
  const std::vector<DocId> docs = bitmap.ToVector();
  Require(docs.size() == bitmap.cardinality());
  Require(std::ranges::adjacent_find(docs, std::greater_equal<>()) == docs.end());
  Require(docs.empty() || docs.back() < row_count);
  Require(RowBitmap::Of(docs) == bitmap);
  const std::vector<uint8_t> bytes = bitmap.Serialize();
  Require(RowBitmap::Of(docs).Serialize() == bytes);
  const auto again = RowBitmap::Deserialize(bytes, row_count, "fuzz");
  Require(again.ok() && *again == bitmap);
}

}  // namespace
}  // namespace infino

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kRowCount = 10'000'000;
  const auto bitmap =
      infino::RowBitmap::Deserialize(infino::ByteSpan(data, size), kRowCount, "fuzz");
  if (bitmap.ok()) infino::CheckSound(*bitmap, kRowCount);
  return 0;
}
