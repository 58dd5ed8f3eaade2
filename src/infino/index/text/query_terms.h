#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// What one query needs of a term.
enum class TermNeed : uint8_t { kNothing, kPostings, kPositions };

/// The terms of one query on one index: looked up, then loaded, each in one round of reads; what
/// the cache knows is not read again. Terms may be added until the lookup is done. Single-threaded.
class QueryTerms {
 public:
  /// `index` and `cache`, which may be null, outlive it.
  QueryTerms(const TextIndexReader& index, PostingsCache* cache) : index_(&index), cache_(cache) {}

  /// Adds a term, numbered from 0 on, and looks into the cache for it.
  void Add(const std::string& term);

  /// Adds what is not looked up, as if the index did not have it.
  void AddAbsent(const std::string& term);

  [[nodiscard]] size_t size() const { return terms_.size(); }

  /// Appends the dictionary blocks to be read for the terms not known yet. Looks into an inline
  /// dictionary at once.
  [[nodiscard]] arrow::Status PlanLookup(std::vector<ByteRange>& reads);

  /// Takes those blocks, from `bytes` on.
  [[nodiscard]] arrow::Status TakeBlocks(std::span<const std::shared_ptr<arrow::Buffer>> bytes);

  /// Adds a term that was found on the way. The cache is not told: one prefix may have thousands.
  void AddFound(const std::string& term, const TermEntry& entry);

  // Afterwards.

  /// Null if the index does not have the term.
  [[nodiscard]] const TermEntry* entry(uint32_t term) const {
    const std::optional<TermEntry>& known = terms_[term].known->entry;
    return known.has_value() ? &*known : nullptr;
  }

  [[nodiscard]] int64_t document_frequency(uint32_t term) const {
    const TermEntry* const found = entry(term);
    return found == nullptr ? 0 : found->document_frequency;
  }

  /// Appends what has to be read of the terms, of which `needs` has one each, and of the lengths.
  [[nodiscard]] arrow::Status PlanPostings(std::span<const TermNeed> needs, bool lengths,
                                           std::vector<ByteRange>& reads);

  /// Takes those ranges, all of them.
  [[nodiscard]] arrow::Status TakePostings(Buffers bytes);

  // Afterwards, of terms that were needed and exist.

  [[nodiscard]] const std::shared_ptr<const TermPostings>& postings(uint32_t term) const {
    return terms_[term].known->postings;
  }

  [[nodiscard]] arrow::Result<PositionsReader> OpenPositions(uint32_t term) const;

  /// Null if they were not asked for.
  [[nodiscard]] const DocLengths* lengths() const { return lengths_.get(); }

 private:
  struct Term {
    const std::string* name = nullptr;
    std::shared_ptr<const KnownTerm> known;
    std::shared_ptr<arrow::Buffer> positions;
    bool keep = true;  // whether the cache is to know it
  };

  /// A range of postings, and whose.
  struct Planned {
    uint32_t term = 0;
    bool positions = false;
  };

  [[nodiscard]] arrow::Status FindIn(ByteSpan block, std::span<const uint32_t> terms);
  void Know(uint32_t term, std::optional<TermEntry> entry);
  [[nodiscard]] arrow::Status OpenPostings(Term& term, const TermEntry& entry,
                                           const std::shared_ptr<arrow::Buffer>& bytes);

  const TextIndexReader* index_;
  PostingsCache* cache_;
  std::vector<Term> terms_;
  std::vector<uint32_t> unknown_;
  std::vector<std::vector<uint32_t>> lookups_;  // by dictionary block read: its terms
  std::vector<Planned> planned_;                // by range of postings read
  bool reads_lengths_ = false;
  std::shared_ptr<const DocLengths> lengths_;
};

}  // namespace infino::text
