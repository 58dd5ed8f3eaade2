#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "infino/common/ids.h"
#include "infino/index/text/text_format.h"

namespace infino::text {

/// The documents that a phrase or a prefix matches in one superfile, ascending, with what each
/// scores by it. In blocks as postings are. Immutable, and within 12 bytes a document.
class ScoredList {
 public:
  /// `scores` may be empty where nothing is ranked; else there are as many.
  ScoredList(std::vector<DocId> docs, std::vector<double> scores)
      : docs_(std::move(docs)), scores_(std::move(scores)) {
    if (scores_.empty()) return;
    for (size_t i = 0; i < block_count(); ++i) {
      bounds_.push_back(*std::ranges::max_element(BlockScores(i)));
      highest_ = std::max(highest_, bounds_.back());
    }
    best_ = bounds_;
    std::ranges::sort(best_, std::greater());
  }

  [[nodiscard]] std::span<const DocId> docs() const { return docs_; }

  [[nodiscard]] size_t block_count() const { return (docs_.size() + kBlockSize - 1) / kBlockSize; }

  [[nodiscard]] std::span<const DocId> BlockDocs(size_t block) const {
    return std::span(docs_).subspan(block * kBlockSize, CountOf(block));
  }

  [[nodiscard]] std::span<const double> BlockScores(size_t block) const {
    return std::span(scores_).subspan(block * kBlockSize, CountOf(block));
  }

  [[nodiscard]] double BlockBound(size_t block) const { return bounds_[block]; }

  [[nodiscard]] double highest() const { return highest_; }

  /// The bounds of the blocks, best first; each is the score of a document.
  [[nodiscard]] std::span<const double> best() const { return best_; }

  /// The first block that ends at or after `doc`; block_count() if there is none.
  [[nodiscard]] size_t FindBlock(DocId doc) const {
    const auto at = std::lower_bound(docs_.begin(), docs_.end(), doc) - docs_.begin();
    const size_t block = static_cast<size_t>(at) / kBlockSize;
    return static_cast<size_t>(at) == docs_.size() ? block_count() : block;
  }

 private:
  [[nodiscard]] size_t CountOf(size_t block) const {
    return std::min<size_t>(kBlockSize, docs_.size() - block * kBlockSize);
  }

  std::vector<DocId> docs_;
  std::vector<double> scores_;
  std::vector<double> bounds_;
  std::vector<double> best_;
  double highest_ = 0;
};

}  // namespace infino::text
