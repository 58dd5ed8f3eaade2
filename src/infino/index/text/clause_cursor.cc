#include "infino/index/text/clause_cursor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"

namespace infino::text {

void ClauseCursor::SeekBlock(DocId doc) {
  if (postings_.has_value()) {
    postings_->SeekBlock(doc);
  } else {
    list_block_ = list_->FindBlock(doc);
  }
}

void ClauseCursor::NextBlock() {
  if (postings_.has_value()) {
    postings_->NextBlock();
  } else {
    ++list_block_;
  }
}

void ClauseCursor::SkipBlocksUpTo(double score) {
  if (!postings_.has_value()) {
    while (!at_end() && list_->BlockBound(list_block_) <= score) ++list_block_;
    return;
  }
  size_t block = postings_->block();
  const size_t count = bounds_->blocks.size();
  while (block < count) {
    if (block % kSuperBlockBlocks == 0) {
      size_t super_block = block / kSuperBlockBlocks;
      while (super_block < bounds_->super_blocks.size() &&
             bounds_->super_blocks[super_block] <= score) {
        ++super_block;
      }
      block = super_block * kSuperBlockBlocks;
      if (block >= count) break;
    }
    if (bounds_->blocks[block] > score) break;
    ++block;
  }
  postings_->GoToBlock(std::min(block, count));
}

std::optional<double> ClauseCursor::ReachedBy(uint64_t k) const {
  const std::span<const double> best = postings_.has_value() ? bounds_->best : list_->best();
  if (k == 0 || k > best.size()) return std::nullopt;
  return best[k - 1];
}

double ClauseCursor::BoundWithin(DocId begin, DocId end) {
  SeekBlock(begin);
  double bound = -1;
  if (!postings_.has_value()) {
    for (size_t i = list_block_; i < list_->block_count(); ++i) {
      if (list_->BlockDocs(i).front() >= end) break;
      bound = std::max(bound, list_->BlockBound(i));
    }
    return bound;
  }
  const std::span<const TermPostings::Block> blocks = postings_->postings().blocks();
  for (size_t i = postings_->block(); i < blocks.size() && blocks[i].begin < end; ++i) {
    bound = std::max(bound, bounds_->blocks[i]);
  }
  return bound;
}

void GatherNorms(const PostingsCursor& postings, const Bm25& bm25, const LengthNorms* norms,
                 size_t from, std::span<double> out) {
  const std::span<const uint32_t> lengths = postings.Lengths();
  if (!lengths.empty()) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = bm25.Norm(lengths[from + i]);
  } else if (norms != nullptr) {
    norms->Gather(postings.decoded_docs().subspan(from, out.size()), out);
  } else {
    std::ranges::fill(out, bm25.Norm(0));
  }
}

void ClauseCursor::Scores(size_t from, std::span<double> scores) {
  const size_t count = scores.size();
  if (!postings_.has_value()) {
    std::ranges::copy(list_->BlockScores(list_block_).subspan(from, count), scores.begin());
    return;
  }
  const std::span<double> norms = std::span(scratch_->norms).first(count);
  GatherNorms(*postings_, bounds_->scoring.bm25, norms_, from, norms);
  Contribute(bounds_->scoring.idf, postings_->Frequencies().subspan(from, count), norms, scores);
}

arrow::Status ClauseCursor::Locate(std::span<const DocId> docs, std::span<uint8_t> ordinals) {
  if (postings_.has_value()) return postings_->Locate(docs, ordinals);
  LocateInBlock(list_->BlockDocs(list_block_), docs, ordinals);
  return arrow::Status::OK();
}

void ClauseCursor::Find(std::span<const uint8_t> ordinals, std::span<const DocId> docs,
                        FoundDocs& found) {
  const size_t begin = found.count_;
  const size_t count = ordinals.size();
  found.count_ += count;
  if (found.docs_.size() < found.count_) {
    const size_t room = std::max<size_t>(2 * found.count_, kBlockSize);
    found.docs_.resize(room);
    found.ordinals_.resize(room);
    found.frequencies_.resize(room);
    found.norms_.resize(room);
    found.scores_.resize(room);
  }
  if (!postings_.has_value()) {
    const std::span<const double> all = list_->BlockScores(list_block_);
    for (size_t i = 0; i < count; ++i) found.scores_[begin + i] = all[ordinals[i]];
    return;
  }
  std::ranges::copy(docs, found.docs_.begin() + static_cast<ptrdiff_t>(begin));
  std::ranges::copy(ordinals, found.ordinals_.begin() + static_cast<ptrdiff_t>(begin));
  postings_->FrequenciesOf(ordinals, std::span(found.frequencies_).subspan(begin, count));
}

void ClauseCursor::Finish(FoundDocs& found) const {
  if (!postings_.has_value()) return;
  const size_t count = found.count_;
  const std::span<double> norms = std::span(found.norms_).first(count);
  const std::span<const uint32_t> lengths = postings_->Lengths();
  const Bm25& bm25 = bounds_->scoring.bm25;
  if (!lengths.empty()) {
    for (size_t i = 0; i < count; ++i) norms[i] = bm25.Norm(lengths[found.ordinals_[i]]);
  } else if (norms_ != nullptr) {
    norms_->Gather(std::span<const DocId>(found.docs_).first(count), norms);
  } else {
    std::ranges::fill(norms, bm25.Norm(0));
  }
  Contribute(bounds_->scoring.idf, std::span<const uint32_t>(found.frequencies_).first(count),
             norms, std::span(found.scores_).first(count));
}

}  // namespace infino::text
