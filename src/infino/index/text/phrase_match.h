#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cursor.h"

namespace infino::text {

/// One word of a phrase: its postings, and how far it stands behind the phrase's first word.
struct PhraseWord {
  PostingsCursor cursor;
  PositionsReader positions;
  uint32_t position = 0;
};

/// The documents that contain a phrase, ascending, and how often each does.
struct PhraseMatches {
  std::vector<DocId> docs;
  std::vector<uint32_t> frequencies;
};

/// Finds the documents in which all words stand at their distances. Documents that have all words
/// are found first, block by block of the rarest; only their positions are unpacked.
/// Single-threaded; used once.
class PhraseMatcher {
 public:
  /// REQUIRES: two words or more, positions not descending.
  explicit PhraseMatcher(std::vector<PhraseWord> words);

  [[nodiscard]] arrow::Result<PhraseMatches> Run();

 private:
  /// Where a word's positions in the documents of its current block begin.
  struct Unpacked {
    size_t block = SIZE_MAX;
    std::vector<uint32_t> begins;  // by ordinal of the document, and the end
    std::vector<uint32_t> positions;
  };

  [[nodiscard]] arrow::Status Retain(PostingsCursor& cursor);
  [[nodiscard]] arrow::Result<std::span<const uint32_t>> PositionsIn(size_t word, DocId doc);
  [[nodiscard]] arrow::Result<uint32_t> FrequencyIn(DocId doc);

  std::vector<PhraseWord> words_;
  std::vector<Unpacked> unpacked_;  // by word
  std::vector<size_t> by_rarity_;
  std::vector<DocId> docs_;       // of the rarest word's block: those that have all words
  std::vector<uint32_t> starts_;  // in the current document: where the phrase may begin
};

}  // namespace infino::text
