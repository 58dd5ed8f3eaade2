#include "infino/index/text/phrase_match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/ids.h"
#include "infino/index/text/postings_cursor.h"

namespace infino::text {

PhraseMatcher::PhraseMatcher(std::vector<PhraseWord> words)
    : words_(std::move(words)), unpacked_(words_.size()) {
  for (size_t i = 0; i < words_.size(); ++i) by_rarity_.push_back(i);
  std::ranges::stable_sort(by_rarity_, {},
                           [this](size_t i) { return words_[i].cursor.document_count(); });
}

arrow::Result<PhraseMatches> PhraseMatcher::Run() {
  PhraseMatches matches;
  PostingsCursor& lead = words_[by_rarity_.front()].cursor;
  for (; !lead.at_end(); lead.NextBlock()) {
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, lead.Docs());
    docs_.assign(docs.begin(), docs.end());
    for (const size_t word : std::span(by_rarity_).subspan(1)) {
      ARROW_RETURN_NOT_OK(Retain(words_[word].cursor));
    }
    for (const DocId doc : docs_) {
      ARROW_ASSIGN_OR_RAISE(const uint32_t frequency, FrequencyIn(doc));
      if (frequency == 0) continue;
      matches.docs.push_back(doc);
      matches.frequencies.push_back(frequency);
    }
  }
  return matches;
}

/// Keeps those of docs_ that the cursor has.
arrow::Status PhraseMatcher::Retain(PostingsCursor& cursor) {
  size_t kept = 0;
  for (size_t i = 0; i < docs_.size();) {
    cursor.SeekBlock(docs_[i]);
    if (cursor.at_end()) break;
    ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> block, cursor.Docs());
    for (; i < docs_.size() && docs_[i] <= block.back(); ++i) {
      docs_[kept] = docs_[i];
      kept += block[SearchBlock(block, docs_[i])] == docs_[i] ? size_t{1} : 0;
    }
  }
  docs_.resize(kept);
  return arrow::Status::OK();
}

/// The positions of a word in a document that has it.
arrow::Result<std::span<const uint32_t>> PhraseMatcher::PositionsIn(size_t word, DocId doc) {
  PhraseWord& source = words_[word];
  Unpacked& unpacked = unpacked_[word];
  source.cursor.SeekBlock(doc);
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, source.cursor.Docs());
  const size_t ordinal = SearchBlock(docs, doc);
  if (unpacked.block != source.cursor.block()) {
    const std::span<const uint32_t> frequencies = source.cursor.Frequencies();
    ARROW_RETURN_NOT_OK(
        source.positions.Read(source.cursor.block(), frequencies, unpacked.positions));
    unpacked.begins.assign(1, 0);
    for (const uint32_t frequency : frequencies) {
      unpacked.begins.push_back(unpacked.begins.back() + frequency);
    }
    unpacked.block = source.cursor.block();
  }
  const uint32_t begin = unpacked.begins[ordinal];
  return std::span<const uint32_t>(unpacked.positions)
      .subspan(begin, unpacked.begins[ordinal + 1] - begin);
}

/// How often the phrase stands in a document that has all its words.
arrow::Result<uint32_t> PhraseMatcher::FrequencyIn(DocId doc) {
  const size_t rarest = by_rarity_.front();
  ARROW_ASSIGN_OR_RAISE(const std::span<const uint32_t> first, PositionsIn(rarest, doc));
  starts_.clear();
  for (const uint32_t position : first) {
    if (position >= words_[rarest].position) starts_.push_back(position - words_[rarest].position);
  }
  for (const size_t word : std::span(by_rarity_).subspan(1)) {
    if (starts_.empty()) return 0;
    ARROW_ASSIGN_OR_RAISE(const std::span<const uint32_t> positions, PositionsIn(word, doc));
    const uint32_t distance = words_[word].position;
    size_t kept = 0;
    size_t at = 0;
    for (const uint32_t start : starts_) {
      const uint64_t wanted = uint64_t{start} + distance;
      while (at < positions.size() && positions[at] < wanted) ++at;
      if (at == positions.size()) break;
      if (positions[at] == wanted) starts_[kept++] = start;
    }
    starts_.resize(kept);
  }
  return static_cast<uint32_t>(starts_.size());
}

}  // namespace infino::text
