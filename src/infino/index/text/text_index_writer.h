#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/text/dictionary_writer.h"
#include "infino/index/text/positions_writer.h"
#include "infino/index/text/postings_writer.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// What is written beside terms and lengths.
struct TextIndexHead {
  SuperfileId superfile;
  AnalyzerFacts analyzer;
  bool has_positions = false;
};

/// What a writer asks for beside its sink.
struct TextIndexWriterOptions {
  TextIndexBuilder::TermVisitor visit = {};  ///< As of TextIndexBuilder::Finish.

  /// Where the dictionary waits until the postings are out; null: in memory. Nobody else appends to
  /// the file meanwhile.
  ScratchFile* scratch = nullptr;
};

/// Writes a blob term by term, and makes its open part. Where the postings come from is the
/// caller's: from what a builder collected, or from other indexes. Memory: the encoded dictionary,
/// unless there is a scratch file for it, and the encoded postings of one term. Used once; after a
/// failure it is of no further use.
///
///     Begin, (BeginTerm, (Add, AddDifference…)…, EndTerm)…, Finish
class TextIndexWriter {
 public:
  /// `sink` and `lengths`, one of each row, outlive the writer.
  TextIndexWriter(arrow::io::OutputStream& sink, TextIndexHead head,
                  std::span<const uint32_t> lengths, TextIndexWriterOptions options);

  [[nodiscard]] arrow::Status Begin();

  void BeginTerm();

  /// Adds the term's next document. REQUIRES: documents ascend, and their lengths are no less than
  /// the frequency, which is at least 1.
  void Add(DocId doc, uint32_t frequency) {
    if (in_block_ == kBlockSize) EncodeBlock(/*is_last=*/false);
    docs_[in_block_] = doc;
    frequencies_[in_block_] = frequency;
    ++in_block_;
  }

  /// Has the length of a document fetched that Add is called with soon.
  void FetchLength(DocId doc) const { __builtin_prefetch(&lengths_[doc]); }

  /// Adds positions of the document added last, each as the difference to the one before, the first
  /// to 0. REQUIRES: the index has positions; as many as the frequency in the end.
  void AddDifference(uint32_t difference) { differences_.push_back(difference); }

  void AddDifferences(std::span<const uint32_t> differences) {
    differences_.insert(differences_.end(), differences.begin(), differences.end());
  }

  /// Ends the term, which is forgotten if no document was added. REQUIRES: terms ascend bytewise.
  [[nodiscard]] arrow::Status EndTerm(std::string_view term);

  /// Writes what follows the postings.
  [[nodiscard]] arrow::Result<FinishedTextIndex> Finish();

 private:
  [[nodiscard]] arrow::Status WriteHead();
  void EncodeBlock(bool is_last);
  [[nodiscard]] arrow::Status PutTerm();
  [[nodiscard]] arrow::Status WriteLengths();
  [[nodiscard]] arrow::Status WriteDictionary(const FinishedDictionary& dictionary);
  [[nodiscard]] std::vector<uint8_t> EncodeOpenPart(const FinishedDictionary& dictionary) const;

  /// Buffered writing to the sink, which counts.
  [[nodiscard]] arrow::Status Put(ByteSpan bytes);
  [[nodiscard]] arrow::Status Flush();

  arrow::io::OutputStream* sink_;
  TextIndexHead head_;
  std::span<const uint32_t> lengths_;
  TextIndexWriterOptions options_;
  uint64_t written_ = 0;
  ByteWriter pending_;

  DictionaryWriter dictionary_;
  PostingsWriter postings_;
  PositionsWriter positions_;
  TextBlobSections sections_;
  std::vector<LengthChunk> length_chunks_;
  TextIndexSummary summary_;

  // Of the current term.
  TermEntry entry_;
  uint32_t in_block_ = 0;  // documents of the open block
  std::array<DocId, kBlockSize> docs_{};
  std::array<uint32_t, kBlockSize> frequencies_{};
  std::array<uint32_t, kBlockSize> doc_lengths_{};
  std::vector<uint32_t> differences_;  // of the open block
};

}  // namespace infino::text
