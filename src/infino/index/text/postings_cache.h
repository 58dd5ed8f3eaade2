#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "infino/index/text/length_array.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"

namespace infino::text {

class TermTexts;

/// What a text index says of one term. Immutable once in a cache.
struct KnownTerm {
  KnownTerm() = default;
  KnownTerm(const KnownTerm&) = delete;
  KnownTerm& operator=(const KnownTerm&) = delete;
  KnownTerm(KnownTerm&&) = delete;
  KnownTerm& operator=(KnownTerm&&) = delete;
  ~KnownTerm() = default;

  /// Nothing if the index does not have the term. Its inline positions are a view of the copy here.
  std::optional<TermEntry> entry;
  std::vector<uint8_t> inline_positions;

  /// Null until they were needed.
  std::shared_ptr<const TermPostings> postings;
};

/// What searches found out about terms, the text of all terms and document lengths, kept for the
/// next ones: a warm search reads nothing, verifies nothing and parses nothing again. By index
/// (TextIndexReader::uid) and term, within a budget of bytes, the least recently used dropped
/// first. Thread-safe.
class PostingsCache {
 public:
  explicit PostingsCache(int64_t budget_bytes);
  ~PostingsCache();
  PostingsCache(const PostingsCache&) = delete;
  PostingsCache& operator=(const PostingsCache&) = delete;
  PostingsCache(PostingsCache&&) = delete;
  PostingsCache& operator=(PostingsCache&&) = delete;

  /// Null if nothing is known.
  [[nodiscard]] std::shared_ptr<const KnownTerm> FindTerm(uint64_t index, std::string_view term);
  [[nodiscard]] std::shared_ptr<const DocLengths> FindLengths(uint64_t index);
  [[nodiscard]] std::shared_ptr<const TermTexts> FindTexts(uint64_t index);

  /// Replaces what was known. What is too large for the cache is not kept.
  void KeepTerm(uint64_t index, std::string_view term, std::shared_ptr<const KnownTerm> known);
  void KeepLengths(uint64_t index, std::shared_ptr<const DocLengths> lengths);
  void KeepTexts(uint64_t index, std::shared_ptr<const TermTexts> texts);

  /// At most the budget.
  [[nodiscard]] int64_t size_bytes() const;

 private:
  class Shard;
  std::vector<std::unique_ptr<Shard>> shards_;

  [[nodiscard]] Shard& ShardOf(size_t hash) const { return *shards_[hash % shards_.size()]; }
};

}  // namespace infino::text
