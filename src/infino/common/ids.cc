#include "infino/common/ids.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/error.h"

namespace infino {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

template <typename Tag>
std::string RandomId<Tag>::ToHex() const {
  return FormatHex(bytes);
}

template <typename Tag>
arrow::Result<RandomId<Tag>> RandomId<Tag>::FromHex(std::string_view hex) {
  RandomId id;
  ARROW_RETURN_NOT_OK(ParseHex(hex, id.bytes));
  return id;
}

template struct RandomId<SuperfileTag>;
template struct RandomId<CommitTag>;

RowId RowId::Plus(uint64_t count) const {
  const uint64_t sum = low + count;
  return {.high = high + (sum < low ? 1U : 0U), .low = sum};
}

uint64_t RowId::Minus(const RowId& first) const {
  return low - first.low;
}

arrow::Status ParseHex(std::string_view hex, std::span<uint8_t> out) {
  const bool fits = hex.size() == 2 * out.size();
  if (!fits || hex.find_first_not_of(kDigits) != std::string_view::npos) {
    std::string message =
        "expected " + std::to_string(2 * out.size()) + " lower-case hexadecimal digits, got \"";
    message += hex.substr(0, 2 * out.size() + 1);
    message += '"';
    return MakeError(ErrorKind::kCorrupt, std::move(message));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t high = kDigits.find(hex[2 * i]);
    const size_t low = kDigits.find(hex[2 * i + 1]);
    out[i] = static_cast<uint8_t>((high << 4) | low);
  }
  return arrow::Status::OK();
}

std::string FormatHex(ByteSpan bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 0xf];
  }
  return hex;
}

}  // namespace infino
