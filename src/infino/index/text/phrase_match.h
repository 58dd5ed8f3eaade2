#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/text_format.h"
#include "infino/index/top_k.h"

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

/// How to leave out documents that are none of the k best by the phrase alone. Those that are left
/// out score no more than k that are found, and come later than the last of these.
struct PhrasePruning {
  Bm25 bm25;
  double weight = 0;                    ///< Of the phrase.
  const DocLengths* lengths = nullptr;  ///< Null if lengths don't matter.
  uint64_t k = 0;
};

/// Finds the documents in which all words stand at their distances. Documents that have all words
/// are found first, block by block of the rarest; only their positions are unpacked.
/// Single-threaded; used once.
class PhraseMatcher {
 public:
  /// Without `pruning` all documents are found. REQUIRES: two words or more, positions not
  /// descending.
  PhraseMatcher(std::vector<PhraseWord> words, const std::optional<PhrasePruning>& pruning);

  [[nodiscard]] arrow::Result<PhraseMatches> Run();

 private:
  /// What is known of one word in the documents of docs_.
  struct Places {
    std::vector<uint32_t> blocks;                 // by document: which block of the word's it is in
    std::vector<uint8_t> ordinals;                // and where there
    size_t begins_block = SIZE_MAX;               // of which block these are:
    std::array<uint32_t, kBlockSize + 1> begins;  // where its documents' positions begin
  };

  [[nodiscard]] bool BlockCanCompete(const PostingsCursor& lead,
                                     const PhrasePruning& pruning) const;
  void DropWeak(PostingsCursor& lead, const PhrasePruning& pruning);

  [[nodiscard]] bool CanCompete(double score) const {
    return static_cast<float>(score * kBoundSlack) > top_.threshold();
  }

  [[nodiscard]] arrow::Status Retain(size_t word);
  [[nodiscard]] arrow::Status PositionsIn(size_t word, size_t document,
                                          std::vector<uint32_t>& positions);
  [[nodiscard]] arrow::Result<uint32_t> FrequencyIn(size_t document);

  std::vector<PhraseWord> words_;
  std::optional<PhrasePruning> pruning_;
  TopK top_;  // of what was found, where something is to be left out
  std::vector<size_t> by_rarity_;
  std::vector<DocId> docs_;     // of the rarest word's block: those that have all words
  std::vector<Places> places_;  // by word
  std::vector<uint8_t> located_;
  std::vector<uint32_t> starts_;  // in the current document: where the phrase may begin
  std::vector<uint32_t> positions_;
};

}  // namespace infino::text
