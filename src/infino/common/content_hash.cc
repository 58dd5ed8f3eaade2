#include "infino/common/content_hash.h"

#include <memory>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>
#include <blake3.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"

namespace infino {

static_assert(sizeof(ContentHash::bytes) == BLAKE3_OUT_LEN);

std::string ContentHash::ToHex() const {
  return FormatHex(bytes);
}

arrow::Result<ContentHash> ContentHash::FromHex(std::string_view hex) {
  ContentHash hash;
  ARROW_RETURN_NOT_OK(ParseHex(hex, hash.bytes));
  return hash;
}

struct ContentHasher::State {
  State() { blake3_hasher_init(&hasher); }

  blake3_hasher hasher;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {}

ContentHasher::~ContentHasher() = default;

void ContentHasher::Add(ByteSpan bytes) {
  blake3_hasher_update(&state_->hasher, bytes.data(), bytes.size());
}

ContentHash ContentHasher::Finish() const {
  ContentHash hash;
  blake3_hasher_finalize(&state_->hasher, hash.bytes.data(), hash.bytes.size());
  return hash;
}

ContentHash Blake3(ByteSpan bytes) {
  ContentHasher hasher;
  hasher.Add(bytes);
  return hasher.Finish();
}

}  // namespace infino
