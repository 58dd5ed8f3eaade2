#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/doc_filter.h"
#include "infino/index/index_search.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/query_terms.h"
#include "infino/index/text/term_texts.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_pattern.h"

namespace infino::text {

/// Narrows down which documents of one superfile have a text that fits a pattern, by the terms that
/// such a text has: all that do are among the candidates, most others are not.
///
/// Rounds, cold: at most 3. (1) the dictionary, whole; none if it is inline or the pattern says all
/// of the words that it has. (2) the dictionary
/// blocks of the terms that fit. (3) their postings. What `cache` knows is not read; that is most
/// times the terms of the whole dictionary. Gives up before a round that would not be worth it: on
/// a very large dictionary, on very many terms, on terms that a good part of the documents have.
/// Single-threaded. Bytes that break the format are kCorrupt.
class PatternSearch final : public IndexSearch {
 public:
  /// `index` and `cache`, which may be null, outlive the search.
  [[nodiscard]] static std::unique_ptr<PatternSearch> Make(const TextIndexReader& index,
                                                           const TextPattern& pattern,
                                                           PostingsCache* cache);

  /// For Make.
  PatternSearch(const TextIndexReader& index, PostingsCache* cache)
      : index_(&index), cache_(cache) {}

  /// Begins the work. Call it before NextReads.
  [[nodiscard]] arrow::Status Resume();

  [[nodiscard]] std::vector<ByteRange> NextReads() override { return reads_; }

  [[nodiscard]] arrow::Status Feed(Buffers bytes) override;

  /// The documents that may have such a text; nothing if the index does not tell.
  /// REQUIRES: NextReads() is empty.
  [[nodiscard]] const std::optional<DocFilter>& candidates() const { return candidates_; }

 private:
  enum class State : uint8_t { kStart, kTexts, kLookup, kPostings, kDone };

  /// A constraint with the terms that fit it: some of terms_, one behind the other.
  struct Part {
    TermConstraint constraint;
    uint32_t terms_begin = 0;
    uint32_t terms_end = 0;
  };

  [[nodiscard]] arrow::Status Start();
  [[nodiscard]] arrow::Status TakeTexts(const TermTexts* texts);
  [[nodiscard]] arrow::Status AfterLookup();
  [[nodiscard]] arrow::Status Finish();
  [[nodiscard]] arrow::Result<DocFilter> DocumentsOf(const Part& part) const;
  void End(std::optional<DocFilter> candidates);

  [[nodiscard]] uint32_t row_count() const {
    return static_cast<uint32_t>(index_->summary().row_count);
  }

  const TextIndexReader* index_;
  PostingsCache* cache_;
  State state_ = State::kStart;
  std::vector<ByteRange> reads_;
  std::vector<Part> parts_;
  std::deque<std::string> names_;  // of terms_
  std::optional<QueryTerms> terms_;
  std::optional<DocFilter> candidates_;
};

}  // namespace infino::text
