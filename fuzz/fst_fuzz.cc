#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_builder.h"
#include "infino/codec/fst_format.h"
#include "infino/codec/fst_reader.h"
#include "infino/common/bytes.h"

// The first byte chooses: the rest is a transducer as stored, or keys for one that must come back.

namespace infino {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadStoredBytes(ByteSpan bytes) {
  const auto reader = FstReader::Open(bytes, "fuzz");
  if (!reader.ok()) return;
  FstReader::Cursor cursor = reader->MakeCursor();
  for (const std::string_view key :
       {std::string_view(), std::string_view("a"), std::string_view("mm\xff"),
        AsText(bytes.last(std::min<size_t>(bytes.size(), 8)))}) {
    static_cast<void>(reader->Find(key));
    static_cast<void>(reader->FindFloor(key));
    arrow::Status status = cursor.Seek(key);
    std::string last;
    for (int i = 0; status.ok() && cursor.valid() && i < 100; ++i) {
      Require(i == 0 || cursor.key() > last);
      last = cursor.key();
      status = cursor.Next();
    }
  }
}

/// Keys are cut at zero bytes; a key's value is a hash of its place.
std::map<std::string, uint64_t> KeysOf(std::string_view text) {
  std::map<std::string, uint64_t> map;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\0'), text.size());
    map[std::string(text.substr(0, std::min(end, kFstKeyBytesMax)))] =
        (text.size() * 0x9E3779B97F4A7C15ULL) >> (text.size() % 64);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return map;
}

void BuildAndReadBack(std::string_view text) {
  const auto map = KeysOf(text);
  FstBuilder builder;
  for (const auto& [key, value] : map) Require(builder.Add(key, value).ok());
  const auto bytes = builder.Finish();
  Require(bytes.ok());
  const auto reader = FstReader::Open(*bytes, "fuzz");
  Require(reader.ok() && reader->key_count() == map.size());
  FstReader::Cursor cursor = reader->MakeCursor();
  Require(cursor.Seek("").ok());
  for (const auto& [key, value] : map) {
    Require(reader->Find(key).ValueOrDie() == std::optional(value));
    Require(reader->FindFloor(key).ValueOrDie() == std::optional(value));
    Require(cursor.valid() && cursor.key() == key && cursor.value() == value);
    Require(cursor.Next().ok());
  }
  Require(!cursor.valid());
}

}  // namespace
}  // namespace infino

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const infino::ByteSpan rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    infino::ReadStoredBytes(rest);
  } else {
    infino::BuildAndReadBack(infino::AsText(rest));
  }
  return 0;
}
