#include "infino/index/text/postings_cursor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

/// So few are unpacked one by one, rather than all of the block.
constexpr size_t kFewFrequencies = 16;

}  // namespace

void PostingsCursor::SeekBlock(DocId doc) {
  const std::span<const TermPostings::Block> blocks = postings_->blocks();
  size_t low = 0;
  size_t high = blocks.size();
  if (block_ < blocks.size() && blocks[block_].begin <= doc) {
    // The next one wanted is mostly near: gallop from here.
    if (blocks[block_].last >= doc) return;
    low = block_ + 1;
    size_t step = 1;
    while (low + step < blocks.size() && blocks[low + step - 1].last < doc) {
      low += step;
      step *= 2;
    }
    high = std::min(low + step, blocks.size());
  }
  const auto candidates = blocks.subspan(low, high - low);
  const auto found = std::lower_bound(
      candidates.begin(), candidates.end(), doc,
      [](const TermPostings::Block& block, DocId wanted) { return block.last < wanted; });
  MoveTo(low + static_cast<size_t>(found - candidates.begin()));
}

arrow::Status PostingsCursor::Locate(std::span<const DocId> docs, std::span<uint8_t> ordinals) {
  if (const ByteSpan bitmap = postings_->BitmapOf(block_); !bitmap.empty()) {
    LocateInBitmap(bitmap, block_begin(), docs, ordinals);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> block, Docs());
  LocateInBlock(block, docs, ordinals);
  return arrow::Status::OK();
}

arrow::Result<std::span<const DocId>> PostingsCursor::DecodeDocs() {
  if (!postings_->docs().empty()) {
    decoded_docs_ = postings_->docs();
    return decoded_docs_;
  }
  docs_.resize(kBlockSize);
  const std::span<DocId> docs = std::span(docs_).first(postings_->CountOf(block_));
  if (!postings_->DecodeDocs(block_, docs)) {
    return CorruptIndex(index_->name(), "documents of a block do not end where they should");
  }
  decoded_docs_ = docs;
  return decoded_docs_;
}

void PostingsCursor::FrequenciesOf(std::span<const uint8_t> ordinals,
                                   std::span<uint32_t> frequencies) {
  if (ordinals.size() <= kFewFrequencies && postings_->docs().empty()) {
    for (size_t i = 0; i < ordinals.size(); ++i) {
      frequencies[i] = postings_->FrequencyAt(block_, ordinals[i]);
    }
    return;
  }
  const std::span<const uint32_t> all = Frequencies();
  for (size_t i = 0; i < ordinals.size(); ++i) frequencies[i] = all[ordinals[i]];
}

void PostingsCursor::DecodeFrequencies() {
  if (!postings_->docs().empty()) {
    decoded_frequencies_ = postings_->frequencies();
    return;
  }
  frequencies_.resize(kBlockSize);
  const std::span<uint32_t> frequencies = std::span(frequencies_).first(postings_->CountOf(block_));
  postings_->DecodeFrequencies(block_, frequencies);
  decoded_frequencies_ = frequencies;
}

}  // namespace infino::text
