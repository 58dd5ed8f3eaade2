#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "infino/codec/bloom_filter.h"
#include "infino/common/bytes.h"

// The bytes as a stored filter, then as keys of a filter that must contain them all.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const infino::ByteSpan bytes(data, size);
  const std::string_view text = infino::AsText(bytes);
  const auto stored = infino::BloomFilterView::Open(bytes, "fuzz");
  if (stored.ok()) static_cast<void>(stored->MayContain(text));

  std::vector<std::string_view> keys;
  for (size_t at = 0; at < size; at += 1 + data[at] % 32U) keys.push_back(text.substr(at, 20));
  infino::BloomFilterBuilder builder(keys.size());
  for (const std::string_view key : keys) builder.Add(key);
  const std::vector<uint8_t> built = builder.Finish();
  const auto filter = infino::BloomFilterView::Open(built, "fuzz");
  const auto contained = [&](std::string_view key) { return filter->MayContain(key); };
  if (!filter.ok() || !std::ranges::all_of(keys, contained)) std::abort();
  return 0;
}
