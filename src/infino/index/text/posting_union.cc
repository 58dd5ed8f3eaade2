#include "infino/index/text/posting_union.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

constexpr uint32_t kWordBits = 64;

/// With a posting for every so many documents an array is quicker than sorting.
constexpr uint32_t kDense = 16;

}  // namespace

PostingUnion::PostingUnion(uint32_t row_count, uint64_t posting_count) {
  if (posting_count > row_count / kDense) {
    sums_.resize(row_count);
    bits_.resize((size_t{row_count} + kWordBits - 1) / kWordBits);
  } else {
    pairs_.reserve(posting_count);
  }
}

void PostingUnion::Add(std::span<const DocId> docs, std::span<const double> values) {
  if (sums_.empty()) {
    for (size_t i = 0; i < docs.size(); ++i) pairs_.emplace_back(docs[i], values[i]);
    return;
  }
  for (size_t i = 0; i < docs.size(); ++i) {
    sums_[docs[i]] += values[i];
    bits_[docs[i] / kWordBits] |= uint64_t{1} << (docs[i] % kWordBits);
  }
}

arrow::Status PostingUnion::AddScores(PostingsCursor& postings, const TermScoring& scoring,
                                      const LengthNorms* norms, ScoreScratch& scratch) {
  std::array<double, kBlockSize> scores;
  for (; !postings.at_end(); postings.NextBlock()) {
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, postings.Docs());
    const std::span<double> block_norms = std::span(scratch.norms).first(docs.size());
    GatherNorms(postings, scoring.bm25, norms, 0, block_norms);
    const std::span<double> block_scores = std::span(scores).first(docs.size());
    Contribute(scoring.idf, postings.Frequencies(), block_norms, block_scores);
    Add(docs, block_scores);
  }
  return arrow::Status::OK();
}

arrow::Status PostingUnion::AddFrequencies(PostingsCursor& postings) {
  std::array<double, kBlockSize> values;
  for (; !postings.at_end(); postings.NextBlock()) {
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, postings.Docs());
    const std::span<const uint32_t> frequencies = postings.Frequencies();
    for (size_t i = 0; i < docs.size(); ++i) values[i] = frequencies[i];
    Add(docs, std::span(values).first(docs.size()));
  }
  return arrow::Status::OK();
}

std::pair<std::vector<DocId>, std::vector<double>> PostingUnion::Finish() {
  std::vector<DocId> docs;
  std::vector<double> values;
  if (sums_.empty()) {
    // Stable, so that a document's values are added in the order they came.
    std::ranges::stable_sort(pairs_, {}, &std::pair<DocId, double>::first);
    for (const auto& [doc, value] : pairs_) {
      if (!docs.empty() && docs.back() == doc) {
        values.back() += value;
      } else {
        docs.push_back(doc);
        values.push_back(value);
      }
    }
    return {std::move(docs), std::move(values)};
  }
  size_t count = 0;
  for (const uint64_t word : bits_) count += static_cast<size_t>(std::popcount(word));
  docs.reserve(count);
  values.reserve(count);
  for (size_t word = 0; word < bits_.size(); ++word) {
    for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
      const auto doc =
          static_cast<DocId>(word * kWordBits + static_cast<uint32_t>(std::countr_zero(left)));
      docs.push_back(doc);
      values.push_back(sums_[doc]);
    }
  }
  return {std::move(docs), std::move(values)};
}

}  // namespace infino::text
