#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// One block of a dictionary whose checksum was found right. A view: its bytes and the index
/// outlive it. Thread-safe.
class DictionaryBlock {
 public:
  /// kCorrupt, naming the index, if the checksum or the head is wrong.
  [[nodiscard]] static arrow::Result<DictionaryBlock> Open(const TextIndexReader& index,
                                                           ByteSpan bytes);

  /// The entry of `term`, or nothing if the block has no such term.
  [[nodiscard]] arrow::Result<std::optional<TermEntry>> Find(std::string_view term) const;

  /// Calls `visit` with each term and its entry, in order, until it returns false.
  [[nodiscard]] arrow::Status ForEach(
      const std::function<bool(std::string_view term, const TermEntry& entry)>& visit) const;

 private:
  friend class DictionaryCursor;

  DictionaryBlock(const TextIndexReader& index, ByteSpan entries, uint64_t base, uint64_t count)
      : index_(&index), entries_(entries), base_(base), count_(count) {}

  const TextIndexReader* index_;
  ByteSpan entries_;
  uint64_t base_;  // where the postings of the first entry start
  uint64_t count_;
};

/// Walks the entries of a block in order. The block's bytes and the index outlive it.
class DictionaryCursor {
 public:
  /// Over no entries.
  DictionaryCursor() = default;

  explicit DictionaryCursor(const DictionaryBlock& block);

  /// Moves to the next entry, at first to the first one; false past the last. kCorrupt for bytes
  /// that break the format.
  [[nodiscard]] arrow::Result<bool> Next();

  /// Of the current entry. Valid until the next move.
  [[nodiscard]] std::string_view term() const { return term_; }

  [[nodiscard]] const TermEntry& entry() const { return entry_; }

 private:
  const TextIndexReader* index_ = nullptr;
  BlockReader in_{ByteSpan()};
  uint64_t left_ = 0;
  uint64_t offset_ = 0;
  std::string term_;
  TermEntry entry_;
};

}  // namespace infino::text
