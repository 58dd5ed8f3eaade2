#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_format.h"
#include "infino/common/bytes.h"

namespace infino {

/// Builds a finite-state transducer: a map from byte strings to numbers that shares prefixes,
/// suffixes and the numbers' common parts. Read by FstReader.
///
/// Keys come in order and states are written as soon as no later key can change them. Memory is the
/// output, the longest key's states and a registry of fixed size; a suffix that has fallen out of
/// the registry is written again, so the result may be a little larger than the smallest one. Equal
/// input gives equal bytes. Not thread-safe.
class FstBuilder {
 public:
  FstBuilder();

  /// Adds a key. It must be greater, as bytes, than all before it and at most kFstKeyBytesMax long,
  /// else kInvalidArgument, which leaves the builder as it was. Fails with kResourceExhausted once
  /// the output would pass 4 GiB; the builder is useless then.
  [[nodiscard]] arrow::Status Add(std::string_view key, uint64_t value);

  /// The finished transducer. The builder is empty afterwards and can be used again.
  [[nodiscard]] arrow::Result<std::vector<uint8_t>> Finish();

  [[nodiscard]] uint64_t key_count() const { return key_count_; }

  /// Bytes written so far; grows slower than the keys.
  [[nodiscard]] size_t size_bytes() const { return out_.size(); }

 private:
  /// A state that later keys may still change. The child of its last transition isn't written yet.
  struct OpenState {
    bool is_final = false;
    uint64_t final_output = 0;
    std::vector<FstTransition> transitions;

    void Clear();
    void PushOutput(uint64_t output);
  };

  struct RegistryCell {
    uint64_t hash = 0;
    uint32_t address = 0;
  };

  void Reset();
  arrow::Status CloseDownTo(size_t depth);
  arrow::Result<uint32_t> WriteOnce(const OpenState& state);
  arrow::Result<uint32_t> Write(const OpenState& state);
  [[nodiscard]] bool IsWrittenAt(uint32_t address, const OpenState& state) const;

  ByteWriter out_;
  std::string last_key_;
  uint64_t key_count_ = 0;

  /// One state for each prefix of the last key, the root first. Kept allocated between keys.
  std::vector<OpenState> open_;

  /// Buckets of two cells, the more recently used one first.
  std::vector<RegistryCell> registry_;
};

}  // namespace infino
