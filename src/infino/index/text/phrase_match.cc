#include "infino/index/text/phrase_match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/ids.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/postings_cursor.h"

namespace infino::text {
namespace {

double ScoreOf(const PhrasePruning& pruning, DocId doc, double frequency) {
  const double length = pruning.lengths == nullptr ? 0 : (*pruning.lengths)[doc];
  return pruning.bm25.Contribution(pruning.weight, frequency, length);
}

}  // namespace

PhraseMatcher::PhraseMatcher(std::vector<PhraseWord> words,
                             const std::optional<PhrasePruning>& pruning)
    : words_(std::move(words)),
      pruning_(pruning),
      top_(pruning.has_value() ? pruning->k : 0),
      places_(words_.size()) {
  for (size_t i = 0; i < words_.size(); ++i) by_rarity_.push_back(i);
  std::ranges::stable_sort(by_rarity_, {},
                           [this](size_t i) { return words_[i].cursor.document_count(); });
}

/// The phrase occurs in no document more often than its rarest word.
bool PhraseMatcher::BlockCanCompete(const PostingsCursor& lead,
                                    const PhrasePruning& pruning) const {
  return CanCompete(
      MaxContribution(lead.postings().ImpactsOf(lead.block()), pruning.bm25, pruning.weight));
}

/// Drops those of docs_, which are the lead's block, that can't be among the best.
void PhraseMatcher::DropWeak(PostingsCursor& lead, const PhrasePruning& pruning) {
  const std::span<const uint32_t> frequencies = lead.Frequencies();
  size_t kept = 0;
  for (size_t i = 0; i < docs_.size(); ++i) {
    const DocId doc = docs_[i];
    docs_[kept] = doc;
    kept += CanCompete(ScoreOf(pruning, doc, frequencies[i])) ? size_t{1} : 0;
  }
  docs_.resize(kept);
}

arrow::Result<PhraseMatches> PhraseMatcher::Run() {
  PhraseMatches matches;
  PostingsCursor& lead = words_[by_rarity_.front()].cursor;
  for (; !lead.at_end(); lead.NextBlock()) {
    const bool prunes = pruning_.has_value() && top_.full();
    if (prunes && !BlockCanCompete(lead, *pruning_)) continue;
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, lead.Docs());
    docs_.assign(docs.begin(), docs.end());
    if (prunes) DropWeak(lead, *pruning_);
    for (const size_t word : by_rarity_) ARROW_RETURN_NOT_OK(Retain(word));
    for (size_t document = 0; document < docs_.size(); ++document) {
      ARROW_ASSIGN_OR_RAISE(const uint32_t frequency, FrequencyIn(document));
      if (frequency == 0) continue;
      matches.docs.push_back(docs_[document]);
      matches.frequencies.push_back(frequency);
      if (!pruning_.has_value()) continue;
      const auto score = static_cast<float>(ScoreOf(*pruning_, docs_[document], frequency));
      top_.Offer({.doc = docs_[document], .score = score});
    }
  }
  return matches;
}

/// Keeps those of docs_ that the word has, and notes their places for it; the places for the words
/// before are kept in step.
arrow::Status PhraseMatcher::Retain(size_t word) {
  PostingsCursor& cursor = words_[word].cursor;
  Places& here = places_[word];
  here.blocks.resize(docs_.size());
  here.ordinals.resize(docs_.size());
  located_.resize(docs_.size());
  size_t kept = 0;
  for (size_t i = 0; i < docs_.size();) {
    cursor.SeekBlock(docs_[i]);
    if (cursor.at_end()) break;
    size_t end = i;
    for (const DocId last = cursor.block_last(); end < docs_.size() && docs_[end] <= last;) ++end;
    const std::span<uint8_t> ordinals = std::span(located_).subspan(i, end - i);
    ARROW_RETURN_NOT_OK(cursor.Locate(std::span<const DocId>(docs_).subspan(i, end - i), ordinals));
    for (; i < end; ++i) {
      if (located_[i] == kNotInBlock) continue;
      for (const size_t before : by_rarity_) {
        if (before == word) break;
        places_[before].blocks[kept] = places_[before].blocks[i];
        places_[before].ordinals[kept] = places_[before].ordinals[i];
      }
      docs_[kept] = docs_[i];
      here.blocks[kept] = static_cast<uint32_t>(cursor.block());
      here.ordinals[kept] = located_[i];
      ++kept;
    }
  }
  docs_.resize(kept);
  return arrow::Status::OK();
}

/// The positions of a word in a document of docs_.
arrow::Status PhraseMatcher::PositionsIn(size_t word, size_t document,
                                         std::vector<uint32_t>& positions) {
  PhraseWord& source = words_[word];
  Places& here = places_[word];
  const size_t block = here.blocks[document];
  if (here.begins_block != block) {
    source.cursor.GoToBlock(block);
    uint32_t sum = 0;
    size_t ordinal = 0;
    for (const uint32_t frequency : source.cursor.Frequencies()) {
      here.begins[ordinal++] = sum;
      sum += frequency;
    }
    std::fill(here.begins.begin() + static_cast<ptrdiff_t>(ordinal), here.begins.end(), sum);
    here.begins_block = block;
  }
  const uint8_t ordinal = here.ordinals[document];
  const uint32_t begin = here.begins[ordinal];
  return source.positions.ReadOne(block, begin, here.begins[ordinal + 1U] - begin,
                                  here.begins.back(), positions);
}

/// How often the phrase stands in a document of docs_.
arrow::Result<uint32_t> PhraseMatcher::FrequencyIn(size_t document) {
  const size_t rarest = by_rarity_.front();
  ARROW_RETURN_NOT_OK(PositionsIn(rarest, document, positions_));
  starts_.clear();
  for (const uint32_t position : positions_) {
    if (position >= words_[rarest].position) starts_.push_back(position - words_[rarest].position);
  }
  for (const size_t word : std::span(by_rarity_).subspan(1)) {
    if (starts_.empty()) return 0;
    ARROW_RETURN_NOT_OK(PositionsIn(word, document, positions_));
    const uint32_t distance = words_[word].position;
    size_t kept = 0;
    size_t at = 0;
    for (const uint32_t start : starts_) {
      const uint64_t wanted = uint64_t{start} + distance;
      while (at < positions_.size() && positions_[at] < wanted) ++at;
      if (at == positions_.size()) break;
      if (positions_[at] == wanted) starts_[kept++] = start;
    }
    starts_.resize(kept);
  }
  return static_cast<uint32_t>(starts_.size());
}

}  // namespace infino::text
