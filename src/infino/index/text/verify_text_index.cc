#include "infino/index/text/verify_text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/verify_postings.h"

namespace infino::text {
namespace {

/// The one string that belongs into the transducer for a block: DictionaryWriter's separator.
std::string_view Separator(std::string_view last_before, std::string_view first) {
  const auto [unused, end] = std::ranges::mismatch(last_before, first);
  const auto shared = static_cast<size_t>(end - first.begin());
  return first.substr(0, shared + 1);
}

class IndexVerifier {
 public:
  IndexVerifier(const TextIndexReader& index, const RangeReader& blob)
      : index_(&index), blob_(&blob), postings_(index, blob) {}

  arrow::Status Run(const SuperfileId& superfile) {
    ARROW_RETURN_NOT_OK(CheckHead(superfile));
    ARROW_RETURN_NOT_OK(CheckLengths());
    ARROW_RETURN_NOT_OK(CheckDictionary());
    return CheckTotals();
  }

 private:
  [[nodiscard]] arrow::Status Corrupt(const std::string& what) const {
    return CorruptIndex(index_->name(), what);
  }

  [[nodiscard]] arrow::Status CorruptTerm(const std::string& what) const {
    return Corrupt("dictionary, term '" + term_ + "': " + what);
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) const {
    ARROW_ASSIGN_OR_RAISE(const Buffers buffers, Wait(blob_->Read({range})));
    return buffers.front();
  }

  arrow::Status CheckHead(const SuperfileId& superfile) const {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, Read({.offset = 0, .length = kBlobHeadSize}));
    const ByteSpan bytes(buffer->data(), kBlobHeadSize);
    const ByteSpan content = bytes.first(kBlobHeadSize - kChecksumSize);
    if (!ChecksumMatches(content, LoadU32(bytes.data() + content.size()))) {
      return Corrupt("head of the blob has a wrong checksum");
    }
    BlockReader in(content);
    // Kind, zero and version are the bytes of one number.
    constexpr uint32_t kKindAndVersion = kTextIndexKind | uint32_t{kTextFormatVersion} << 16U;
    if (in.U32() != kBlobMagic || in.U32() != kKindAndVersion) {
      return Corrupt("head of the blob is not that of a text index");
    }
    if (!std::ranges::equal(in.Bytes(superfile.bytes.size()), superfile.bytes)) {
      return Corrupt("head of the blob names another superfile");
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckLengths() {
    const ByteRange& place = index_->sections().lengths;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> section, Read(place));
    ARROW_RETURN_NOT_OK(postings_.SetLengths(*section));
    if (postings_.lengths().rows_with_token != index_->summary().rows_with_token ||
        postings_.lengths().tokens != index_->summary().token_total) {
      return Corrupt("lengths, offset=" + std::to_string(place.offset) +
                     ": their totals are not those of the open part");
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckDictionary() {
    if (const std::optional<ByteSpan> block = index_->inline_dictionary(); block.has_value()) {
      return block->empty() ? arrow::Status::OK() : CheckBlock(*block);
    }
    const FstReader& blocks = *index_->dictionary_blocks();
    FstReader::Cursor cursor = blocks.MakeCursor();
    const ByteRange& section = index_->sections().dictionary;
    int64_t end = 0;
    uint64_t count = 0;
    ARROW_RETURN_NOT_OK(cursor.Seek({}));
    while (cursor.valid()) {
      const auto offset = static_cast<int64_t>(cursor.value() >> kBlockLengthBits);
      const auto length = static_cast<int64_t>(cursor.value() & kDictionaryBlockMax);
      if (offset != end || length > section.length - end) {
        return Corrupt("transducer: blocks do not follow each other, offset=" +
                       std::to_string(section.offset + end));
      }
      block_ = {.offset = section.offset + offset, .length = length};
      key_ = cursor.key();
      ARROW_ASSIGN_OR_RAISE(const auto buffer, Read(*block_));
      ARROW_RETURN_NOT_OK(CheckBlock({buffer->data(), static_cast<size_t>(length)}));
      end += length;
      ++count;
      ARROW_RETURN_NOT_OK(cursor.Next());
    }
    if (end != section.length || count != blocks.key_count()) {
      return Corrupt("transducer: it has another number of keys, or leaves blocks out");
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckBlock(ByteSpan bytes) {
    ARROW_ASSIGN_OR_RAISE(const DictionaryBlock block, DictionaryBlock::Open(*index_, bytes));
    const int64_t terms_before = term_count_;
    arrow::Status failure;
    ARROW_RETURN_NOT_OK(block.ForEach([&](std::string_view term, const TermEntry& entry) {
      failure = CheckTerm(term, entry, term_count_ == terms_before);
      return failure.ok();
    }));
    ARROW_RETURN_NOT_OK(failure);
    if (term_count_ == terms_before) return Corrupt("dictionary: a block has no entries");
    return CheckFound(term_);
  }

  /// Whether lookups of the term come to the block at hand.
  [[nodiscard]] arrow::Status CheckFound(std::string_view term) const {
    if (!block_.has_value()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto found, index_->FindDictionaryBlock(term));
    if (found == block_) return arrow::Status::OK();
    return CorruptTerm("the transducer leads to another block");
  }

  arrow::Status CheckTerm(std::string_view term, const TermEntry& entry, bool is_first_of_block) {
    if (term_count_ == 0 ? term != index_->summary().min_term : term <= term_) {
      return CorruptTerm(term_count_ == 0 ? "is not followed by the least term of the open part"
                                          : "is not followed by a greater one");
    }
    if (is_first_of_block && block_.has_value() && key_ != Separator(term_, term)) {
      return CorruptTerm("the transducer's key after it is not the shortest");
    }
    term_ = term;
    ++term_count_;
    if (is_first_of_block) ARROW_RETURN_NOT_OK(CheckFound(term));
    return postings_.CheckTerm(term, entry);
  }

  arrow::Status CheckTotals() {
    const TextIndexSummary& summary = index_->summary();
    if (term_count_ != summary.term_count || term_ != summary.max_term) {
      return CorruptTerm("is the last, or terms are as many, against what the open part says");
    }
    return postings_.CheckTotals();
  }

  const TextIndexReader* index_;
  const RangeReader* blob_;
  PostingsVerifier postings_;
  std::optional<ByteRange> block_;  // of the dictionary; none if that is inline
  std::string key_;                 // of the block
  std::string term_;                // the last one seen
  int64_t term_count_ = 0;
};

}  // namespace

arrow::Status VerifyTextIndex(const TextIndexReader& index, const RangeReader& blob,
                              const SuperfileId& superfile) {
  return IndexVerifier(index, blob).Run(superfile);
}

}  // namespace infino::text
