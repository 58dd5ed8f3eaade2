#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/scored_list.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"

namespace infino::text {

/// Where the numbers of a block's documents are put before they are scored. One for all cursors of
/// a scan.
struct ScoreScratch {
  std::array<uint32_t, kBlockSize> frequencies;
  std::array<double, kBlockSize> norms;
};

/// The norms of documents [from, from + out.size()) of the cursor's block: by the lengths that the
/// term knows, else from `norms`, which may be null where lengths don't matter. REQUIRES: Docs()
/// succeeded.
void GatherNorms(const PostingsCursor& postings, const Bm25& bm25, const LengthNorms* norms,
                 size_t from, std::span<double> out);

/// Documents that a clause matches, found block by block and scored together: their lengths lie all
/// over memory, and so are waited for at the same time.
class FoundDocs {
 public:
  void Clear() { count_ = 0; }

  [[nodiscard]] size_t size() const { return count_; }

  [[nodiscard]] std::span<const double> scores() const { return std::span(scores_).first(count_); }

 private:
  friend class ClauseCursor;

  size_t count_ = 0;  // of the arrays, which only grow
  std::vector<DocId> docs_;
  std::vector<uint8_t> ordinals_;
  std::vector<uint32_t> frequencies_;
  std::vector<double> norms_;
  std::vector<double> scores_;
};

/// A place in the documents that one clause matches, block by block, with what each document scores
/// by it: over a term's postings, or over a list that was computed before. Single-threaded; what it
/// returns stays valid until it moves.
class ClauseCursor {
 public:
  /// What a ranking cursor over a term needs. `norms` may be null for a term of one block,
  /// and where b is 0; both outlive the cursor.
  struct Ranking {
    std::shared_ptr<const BlockBounds> bounds;
    const LengthNorms* norms = nullptr;
    ScoreScratch* scratch = nullptr;
  };

  /// Over a term. `ranking` is empty where nothing is ranked.
  ClauseCursor(PostingsCursor postings, Ranking ranking)
      : postings_(std::move(postings)),
        bounds_(std::move(ranking.bounds)),
        norms_(ranking.norms),
        scratch_(ranking.scratch) {}

  /// Over a list.
  explicit ClauseCursor(std::shared_ptr<const ScoredList> list) : list_(std::move(list)) {}

  [[nodiscard]] uint32_t document_count() const {
    return postings_.has_value() ? postings_->document_count()
                                 : static_cast<uint32_t>(list_->docs().size());
  }

  /// As PostingsCursor.
  void SeekBlock(DocId doc);
  void NextBlock();

  [[nodiscard]] bool at_end() const {
    return postings_.has_value() ? postings_->at_end() : list_block_ >= list_->block_count();
  }

  /// From this block on, moves to the first that may hold a document of more than `score`, or to
  /// the end. REQUIRES: ranked.
  void SkipBlocksUpTo(double score);

  /// No document scores more. REQUIRES: ranked.
  [[nodiscard]] double highest() const {
    return postings_.has_value() ? bounds_->highest : list_->highest();
  }

  /// A score that at least k documents reach, if one is known. REQUIRES: ranked.
  [[nodiscard]] std::optional<double> ReachedBy(uint64_t k) const;

  /// No document of [begin, end) scores more; negative if no block has any there. Moves to the
  /// first block that ends at or after `begin`. REQUIRES: ranked.
  [[nodiscard]] double BoundWithin(DocId begin, DocId end);

  // Of the current block. REQUIRES: !at_end().

  [[nodiscard]] DocId block_begin() const {
    return postings_.has_value() ? postings_->block_begin() : list_->BlockDocs(list_block_).front();
  }

  [[nodiscard]] DocId block_last() const {
    return postings_.has_value() ? postings_->block_last() : list_->BlockDocs(list_block_).back();
  }

  /// The highest score in the block. REQUIRES: ranked.
  [[nodiscard]] double block_bound() const {
    return postings_.has_value() ? bounds_->blocks[postings_->block()]
                                 : list_->BlockBound(list_block_);
  }

  [[nodiscard]] arrow::Result<std::span<const DocId>> Docs() {
    if (postings_.has_value()) return postings_->Docs();
    return list_->BlockDocs(list_block_);
  }

  /// As TermPostings::BitmapOf.
  [[nodiscard]] ByteSpan Bitmap() const {
    return postings_.has_value() ? postings_->postings().BitmapOf(postings_->block()) : ByteSpan();
  }

  /// The scores of documents [from, from + scores.size()) of the block. REQUIRES: ranked, Docs()
  /// succeeded.
  void Scores(size_t from, std::span<double> scores);

  /// Sets ordinals[i] to that of docs[i] in the block, or to kNotInBlock. REQUIRES: ascending, none
  /// below block_begin(), as many of both. kCorrupt as Docs.
  [[nodiscard]] arrow::Status Locate(std::span<const DocId> docs, std::span<uint8_t> ordinals);

  /// Adds some documents of the block, given by their ordinals, to what Finish will score.
  /// REQUIRES: ranked, as many of both.
  void Find(std::span<const uint8_t> ordinals, std::span<const DocId> docs, FoundDocs& found);

  /// Sets the scores of all that Find added, of any block. REQUIRES: ranked.
  void Finish(FoundDocs& found) const;

 private:
  std::optional<PostingsCursor> postings_;
  std::shared_ptr<const BlockBounds> bounds_;
  const LengthNorms* norms_ = nullptr;

  ScoreScratch* scratch_ = nullptr;

  std::shared_ptr<const ScoredList> list_;
  size_t list_block_ = 0;
};

}  // namespace infino::text
