#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_pattern.h"

namespace infino::text {

/// All terms of an index in one piece of memory, to be searched for parts of terms as fast as
/// memory is read. Immutable and thread-safe; owns what it holds.
class TermTexts {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `dictionary` is the whole section of dictionary blocks, empty if the dictionary is inline.
  /// kCorrupt for bytes that break the format.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const TermTexts>> Read(
      const TextIndexReader& index, ByteSpan dictionary);

  /// For Read.
  explicit TermTexts(Private /*tag*/) {}

  /// Appends the terms that fit the constraint, in any order, each once. False, with some appended,
  /// if they are more than `terms_max`.
  [[nodiscard]] bool Find(const TermConstraint& constraint, size_t terms_max,
                          std::vector<std::string>& terms) const;

  [[nodiscard]] size_t memory_bytes() const;

 private:
  [[nodiscard]] arrow::Status Append(const TextIndexReader& index, ByteSpan block);

  std::string all_;                   // each term between two line ends, which no term has
  std::vector<std::string> unusual_;  // see IsUnusual
};

}  // namespace infino::text
