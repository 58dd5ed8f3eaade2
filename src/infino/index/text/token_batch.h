#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/common/ids.h"
#include "infino/index/text/term_table.h"

namespace infino::text {

/// Tokens of consecutive documents on their way into a term table, grouped by term.
///
/// What a table holds of a term lies where few caches reach: grouped, it is looked at once a batch
/// instead of once a token. Single-threaded.
class TokenBatch {
 public:
  /// Takes up to `tokens_max` tokens, at least one.
  explicit TokenBatch(size_t tokens_max) : tokens_max_(tokens_max) {}

  /// Adds the next token of the term numbered `term`. REQUIRES: documents ascend, and positions in
  /// a document; not full.
  void Add(uint32_t term, DocId doc, uint32_t position) {
    terms_.push_back(term);
    places_.push_back((uint64_t{doc} << 32) | position);
  }

  [[nodiscard]] bool full() const { return terms_.size() >= tokens_max_; }

  /// Adds all tokens to `table`, and forgets them. REQUIRES: the terms are the table's, and the
  /// documents come after those it has.
  void MoveTo(TermTable& table);

  /// To be called when the table's terms are numbered anew. REQUIRES: no tokens.
  void ForgetTerms() { next_.clear(); }

  [[nodiscard]] int64_t memory_bytes() const;

 private:
  void Group(uint32_t term_count);
  void AddTerm(uint32_t term, std::span<const uint64_t> places, TermTable& table);

  size_t tokens_max_;
  std::vector<uint32_t> terms_;    // of the tokens, as they came
  std::vector<uint64_t> places_;   // document, position
  std::vector<uint32_t> touched_;  // terms, as they came first
  std::vector<uint32_t> next_;  // by term: its tokens, then the end of its group; 0 between batches
  std::vector<uint64_t> grouped_;  // places_, those of touched_ one after the other
  std::vector<uint8_t> postings_;
  std::vector<uint8_t> positions_;
};

}  // namespace infino::text
