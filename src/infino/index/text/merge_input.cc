#include "infino/index/text/merge_input.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_merge.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAhead::Get(ByteRange range) {
  if (buffer_ == nullptr || range.offset < held_.offset || range.end() > held_.end()) {
    buffer_ = nullptr;
    held_ = {.offset = range.offset,
             .length = std::max(range.length, std::min(read_bytes_, end_ - range.offset))};
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes, (*read_)(held_));
    if (bytes->size() != held_.length) {
      return CorruptIndex(index_->name(),
                          "a read of the blob came short: offset=" + std::to_string(held_.offset));
    }
    buffer_ = std::move(bytes);
  }
  return arrow::SliceBuffer(buffer_, range.offset - held_.offset, range.length);
}

MergeInput::MergeInput(const TextIndexReader& index, const BlobRead& read, DocMap docs,
                       std::span<const uint32_t> lengths, int64_t read_bytes)
    : index_(index),
      doc_map_(docs),
      lengths_(lengths),
      has_positions_(index.has_positions()),
      dictionary_reads_(index, read, index.sections().dictionary.end(), read_bytes),
      postings_reads_(index, read, index.sections().postings.end(), read_bytes),
      positions_reads_(index, read, index.sections().postings.end(), read_bytes) {
  if (const FstReader* const blocks = index.dictionary_blocks(); blocks != nullptr) {
    blocks_ = blocks->MakeCursor();
  }
}

int64_t MergeInput::done_bytes() const {
  return static_cast<int64_t>(entries_.entry().offset);
}

arrow::Result<bool> MergeInput::NextTerm() {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool found, entries_.Next());
    if (found) break;
    ARROW_ASSIGN_OR_RAISE(const bool more, NextDictionaryBlock());
    if (!more) return false;
  }
  if (entries_.term() <= std::string_view(term_)) {
    return CorruptIndex(index_.name(), "terms do not ascend");
  }
  term_ = entries_.term();
  return true;
}

arrow::Result<bool> MergeInput::NextDictionaryBlock() {
  const bool is_first = !std::exchange(is_started_, true);
  ByteSpan bytes = index_.inline_dictionary().value_or(ByteSpan());
  if (blocks_.has_value()) {
    ARROW_RETURN_NOT_OK(is_first ? blocks_->Seek({}) : blocks_->Next());
    if (!blocks_->valid()) return false;
    ARROW_ASSIGN_OR_RAISE(const ByteRange range, index_.DictionaryBlockAt(blocks_->value()));
    ARROW_ASSIGN_OR_RAISE(block_bytes_, dictionary_reads_.Get(range));
    bytes = {block_bytes_->data(), static_cast<size_t>(block_bytes_->size())};
  } else if (!is_first || bytes.empty()) {
    return false;
  }
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock block, DictionaryBlock::Open(index_, bytes));
  entries_ = DictionaryCursor(block);
  return true;
}

arrow::Status MergeInput::OpenPostings() {
  const TermEntry& entry = entries_.entry();
  const int64_t start = index_.sections().postings.offset + static_cast<int64_t>(entry.offset);
  const auto postings_length = static_cast<int64_t>(entry.postings_length);
  const auto positions_length = static_cast<int64_t>(entry.positions_length);
  const bool in_pieces = entry.document_frequency > kBlockSize;
  docs_.clear();
  at_ = 0;
  block_ = 0;
  super_block_ = 0;
  blocks_left_ = 1;
  cursor_ = nullptr;
  positions_.reset();
  if (entry.document_frequency > 1) {
    ARROW_ASSIGN_OR_RAISE(const auto bytes,
                          postings_reads_.Get({.offset = start, .length = postings_length}));
    ARROW_ASSIGN_OR_RAISE(auto postings, TermPostings::Open(index_, entry, bytes));
    cursor_ = std::make_unique<PostingsCursor>(index_, std::move(postings));
  }
  if (has_positions_ && in_pieces) {
    ARROW_ASSIGN_OR_RAISE(auto head,
                          positions_reads_.Get({.offset = start + postings_length,
                                                .length = PositionsReader::HeadBytes(entry)}));
    ARROW_ASSIGN_OR_RAISE(positions_,
                          PositionsReader::MakePiecewise(index_, entry, std::move(head)));
  } else if (has_positions_) {
    std::shared_ptr<arrow::Buffer> bytes;
    if (positions_length > 0) {
      ARROW_ASSIGN_OR_RAISE(bytes, postings_reads_.Get({.offset = start + postings_length,
                                                        .length = positions_length}));
    }
    ARROW_ASSIGN_OR_RAISE(positions_, PositionsReader::Make(index_, entry, std::move(bytes)));
  }
  return in_pieces ? OpenSuperBlock(0) : arrow::Status::OK();
}

arrow::Status MergeInput::OpenSuperBlock(size_t ordinal) {
  const TermEntry& entry = entries_.entry();
  const size_t first = ordinal * kSuperBlockBlocks;
  super_block_ = ordinal;
  blocks_left_ = std::min<size_t>(kSuperBlockBlocks, cursor_->postings().blocks().size() - first);
  if (!positions_.has_value()) return arrow::Status::OK();
  ByteRange range = positions_->SuperBlockRange(ordinal);
  range.offset += index_.sections().postings.offset + static_cast<int64_t>(entry.offset) +
                  static_cast<int64_t>(entry.postings_length);
  ARROW_ASSIGN_OR_RAISE(auto positions, positions_reads_.Get(range));
  return positions_->OpenSuperBlock(ordinal, std::move(positions));
}

arrow::Result<bool> MergeInput::NextBlock() {
  while (at_block_end()) {
    if (blocks_left_ == 0) {
      if (cursor_ == nullptr || block_ >= cursor_->postings().blocks().size()) return false;
      ARROW_RETURN_NOT_OK(OpenSuperBlock(super_block_ + 1));
    }
    ARROW_RETURN_NOT_OK(TakeBlock());
  }
  return true;
}

arrow::Status MergeInput::TakeBlock() {
  --blocks_left_;
  const TermEntry& entry = entries_.entry();
  std::span<const DocId> docs(&entry.single_doc, 1);
  std::span<const uint32_t> frequencies(&entry.impacts.front().frequency, 1);
  if (cursor_ != nullptr) {
    cursor_->GoToBlock(block_);
    ARROW_ASSIGN_OR_RAISE(docs, cursor_->Docs());
    frequencies = cursor_->Frequencies();
  }
  if (positions_.has_value()) {
    ARROW_RETURN_NOT_OK(positions_->ReadDifferences(block_, frequencies, all_differences_));
  }
  ++block_;
  return KeepSurvivors(docs, frequencies);
}

arrow::Status MergeInput::KeepSurvivors(std::span<const DocId> docs,
                                        std::span<const uint32_t> frequencies) {
  docs_.clear();
  frequencies_.clear();
  at_ = 0;
  differences_at_ = 0;
  if (doc_map_.new_docs.empty()) {
    for (const DocId doc : docs) docs_.push_back(doc_map_.first + doc);
    frequencies_.assign(frequencies.begin(), frequencies.end());
    differences_.swap(all_differences_);
  } else {
    differences_.clear();
    size_t from = 0;
    for (size_t i = 0; i < docs.size(); ++i) {
      const size_t count = has_positions_ ? frequencies[i] : 0;
      const DocId doc = doc_map_.new_docs[docs[i]];
      if (doc != kGoneDoc) {
        docs_.push_back(doc);
        frequencies_.push_back(frequencies[i]);
        const std::span<const uint32_t> kept = std::span(all_differences_).subspan(from, count);
        differences_.insert(differences_.end(), kept.begin(), kept.end());
      }
      from += count;
    }
  }
  for (size_t i = 0; i < docs_.size(); ++i) {
    if (frequencies_[i] <= lengths_[docs_[i]]) continue;
    return CorruptIndex(index_.name(), "a term occurs more often than its document is long");
  }
  return arrow::Status::OK();
}

}  // namespace infino::text
