#include "infino/index/text/dictionary_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

/// Blocks are put out of memory in pieces of this size.
constexpr size_t kSpoolBytes = size_t{256} << 10;

/// What a block has beside its entries, at the most.
constexpr size_t kBlockOverhead = 10 + 5 + kChecksumSize;

size_t SharedPrefix(std::string_view left, std::string_view right) {
  const auto [end, unused] = std::ranges::mismatch(left, right);
  return static_cast<size_t>(end - left.begin());
}

}  // namespace

void DictionaryWriter::EncodeEntry(std::string_view term, size_t shared, const TermEntry& entry) {
  entry_.Clear();
  entry_.WriteVarint(shared);
  entry_.WriteString(term.substr(shared));
  entry_.WriteVarint(entry.document_frequency);
  if (entry.document_frequency == 1) {
    entry_.WriteVarint(entry.single_doc);
    entry_.WriteVarint(entry.impacts.front().frequency);
    entry_.WriteVarint(entry.impacts.front().length);
    if (!has_positions_) return;
    if (entry.positions_length == 0) {
      entry_.WriteVarint(entry.inline_positions.size());
      entry_.WriteBytes(entry.inline_positions);
    } else {
      entry_.WriteVarint(entry.positions_length);
    }
    return;
  }
  entry_.WriteVarint(entry.total_frequency - entry.document_frequency);
  WriteImpacts(entry.impacts, entry_);
  entry_.WriteVarint(entry.postings_length);
  if (entry.document_frequency > kBlockSize) entry_.WriteVarint(entry.skip_length);
  if (has_positions_) entry_.WriteVarint(entry.positions_length);
}

arrow::Status DictionaryWriter::Add(std::string_view term, const TermEntry& entry) {
  EncodeEntry(term, SharedPrefix(last_term_, term), entry);
  if (entry_count_ > 0 && body_.size() + entry_.size() + kBlockOverhead > kDictionaryBlockTarget) {
    ARROW_RETURN_NOT_OK(EndBlock());
  }
  if (entry_count_ == 0) {
    separator_ = term.substr(0, SharedPrefix(last_term_, term) + 1);
    base_ = entry.offset;
    EncodeEntry(term, 0, entry);
  }
  body_.WriteBytes(entry_.bytes());
  ++entry_count_;
  last_term_ = term;
  return arrow::Status::OK();
}

arrow::Status DictionaryWriter::EndBlock() {
  const size_t offset = static_cast<size_t>(spooled_.length) + blocks_.size();
  ByteWriter block;
  block.WriteVarint(base_);
  block.WriteVarint(entry_count_);
  block.WriteBytes(body_.bytes());
  block.WriteU32(Crc32c(block.bytes()));
  blocks_.WriteBytes(block.bytes());
  ARROW_RETURN_NOT_OK(
      transducer_.Add(separator_, (uint64_t{offset} << kBlockLengthBits) | block.size()));
  body_.Clear();
  entry_count_ = 0;
  ++block_count_;
  if (scratch_ == nullptr || blocks_.size() < kSpoolBytes) return arrow::Status::OK();
  if (spooled_.length == 0) spooled_.offset = scratch_->size();
  ARROW_RETURN_NOT_OK(scratch_->Append(blocks_.bytes()));
  spooled_.length += static_cast<int64_t>(blocks_.size());
  blocks_.Clear();
  return arrow::Status::OK();
}

arrow::Result<FinishedDictionary> DictionaryWriter::Finish() {
  if (entry_count_ > 0) ARROW_RETURN_NOT_OK(EndBlock());
  FinishedDictionary finished;
  finished.is_inline = block_count_ <= 1 && blocks_.size() <= kInlineDictionaryMax;
  if (!finished.is_inline) {
    ARROW_ASSIGN_OR_RAISE(finished.transducer, transducer_.Finish());
  }
  finished.spooled = spooled_;
  finished.blocks = blocks_.Take();
  return finished;
}

}  // namespace infino::text
