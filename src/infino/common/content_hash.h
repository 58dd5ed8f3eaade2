#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/result.h>

#include "infino/common/bytes.h"

namespace infino {

/// The BLAKE3 hash of an object's bytes, which is also part of its name.
struct ContentHash {
  std::array<uint8_t, 32> bytes{};

  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string ToHex() const;

  /// Parses what ToHex wrote; anything else is kCorrupt.
  [[nodiscard]] static arrow::Result<ContentHash> FromHex(std::string_view hex);

  friend auto operator<=>(const ContentHash&, const ContentHash&) = default;
};

[[nodiscard]] ContentHash Blake3(ByteSpan bytes);

/// Blake3 of bytes that come piece by piece. Pieces of some KiB go fastest. Single-threaded.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  void Add(ByteSpan bytes);

  /// Of all bytes so far.
  [[nodiscard]] ContentHash Finish() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace infino
