#include "infino/index/text/term_dictionary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
constexpr auto kLengthMax = static_cast<uint32_t>(kDocumentLengthMax);

/// The front-coded part of an entry.
struct TermSuffix {
  size_t shared = 0;
  std::string_view suffix;
};

TermSuffix ReadSuffix(BlockReader& in, size_t last_size) {
  TermSuffix term;
  term.shared = static_cast<size_t>(in.Varint(last_size));
  const uint64_t size = in.Varint(kTermLengthMax - std::min(term.shared, kTermLengthMax));
  term.suffix = AsText(in.Bytes(size));
  return term;
}

void ReadSingle(BlockReader& in, const TextIndexReader& index, TermEntry& entry) {
  const auto rows = static_cast<uint32_t>(index.summary().row_count);
  entry.single_doc = in.Varint32(rows == 0 ? 0 : rows - 1);
  const uint32_t frequency = in.Varint32(kLengthMax);
  const uint32_t length = in.Varint32(kLengthMax);
  if (rows == 0 || frequency == 0 || frequency > length) in.Fail();
  entry.total_frequency = frequency;
  entry.impacts.assign(1, {.frequency = frequency, .length = length});
  if (!index.has_positions()) return;
  const uint64_t size = in.Varint(kAny);
  if (size <= kInlinePositionsMax) {
    entry.inline_positions = in.Bytes(size);
  } else {
    entry.positions_length = size;
  }
}

/// Reads what follows an entry's term, whose postings start at `offset`.
void ReadEntry(BlockReader& in, const TextIndexReader& index, uint64_t offset, TermEntry& entry) {
  entry.skip_length = 0;
  entry.postings_length = 0;
  entry.positions_length = 0;
  entry.inline_positions = {};
  entry.offset = offset;
  entry.document_frequency = in.Varint32(static_cast<uint32_t>(index.summary().rows_with_token));
  if (entry.document_frequency == 0) {
    in.Fail();
    return;
  }
  if (entry.document_frequency == 1) {
    ReadSingle(in, index, entry);
  } else {
    entry.total_frequency =
        entry.document_frequency + in.Varint(static_cast<uint64_t>(index.summary().token_total));
    ReadImpacts(in, entry.impacts);
    entry.postings_length = in.Varint(kAny);
    if (entry.document_frequency > kBlockSize) entry.skip_length = in.Varint(entry.postings_length);
    if (index.has_positions()) entry.positions_length = in.Varint(kAny);
  }
  const auto section = static_cast<uint64_t>(index.sections().postings.length);
  if (offset > section || entry.postings_length > section - offset ||
      entry.positions_length > section - offset - entry.postings_length) {
    in.Fail();
  }
}

uint64_t EndOf(const TermEntry& entry) {
  return entry.offset + entry.postings_length + entry.positions_length;
}

}  // namespace

arrow::Result<DictionaryBlock> DictionaryBlock::Open(const TextIndexReader& index, ByteSpan bytes) {
  if (bytes.size() < kChecksumSize) return CorruptIndex(index.name(), "dictionary block is short");
  const ByteSpan content = bytes.first(bytes.size() - kChecksumSize);
  if (!ChecksumMatches(content, LoadU32(bytes.data() + content.size()))) {
    return CorruptIndex(index.name(), "checksum of a dictionary block does not match");
  }
  BlockReader in(content);
  const uint64_t base = in.Varint(kAny);
  const uint64_t count = in.Varint(static_cast<uint64_t>(index.summary().term_count));
  if (!in.ok()) return CorruptIndex(index.name(), "head of a dictionary block is malformed");
  return DictionaryBlock(index, content.subspan(in.offset()), base, count);
}

arrow::Result<std::optional<TermEntry>> DictionaryBlock::Find(std::string_view term) const {
  BlockReader in(entries_);
  TermEntry entry;
  uint64_t offset = base_;
  size_t matched = 0;    // how much of `term` the entry before shares
  size_t last_size = 0;  // of the entry before, which is less than `term`
  for (uint64_t i = 0; i < count_ && in.ok(); ++i) {
    const TermSuffix next = ReadSuffix(in, last_size);
    if (!in.ok()) break;
    if (next.shared < matched) return std::nullopt;  // it is greater than `term`
    if (next.shared == matched) {
      const std::string_view rest = term.substr(matched);
      const auto [in_suffix, in_rest] = std::ranges::mismatch(next.suffix, rest);
      if (in_suffix == next.suffix.end() && in_rest == rest.end()) {
        ReadEntry(in, *index_, offset, entry);
        if (in.ok()) return entry;
        break;
      }
      const bool less = in_suffix == next.suffix.end() ||
                        (in_rest != rest.end() && static_cast<unsigned char>(*in_suffix) <
                                                      static_cast<unsigned char>(*in_rest));
      if (!less) return std::nullopt;
      matched += static_cast<size_t>(in_rest - rest.begin());
    }
    last_size = next.shared + next.suffix.size();
    ReadEntry(in, *index_, offset, entry);
    offset = EndOf(entry);
  }
  if (!in.ok()) return CorruptIndex(index_->name(), "dictionary block is malformed");
  return std::nullopt;
}

arrow::Status DictionaryBlock::ForEach(
    const std::function<bool(std::string_view term, const TermEntry& entry)>& visit) const {
  DictionaryCursor cursor(*this);
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool found, cursor.Next());
    if (!found || !visit(cursor.term(), cursor.entry())) return arrow::Status::OK();
  }
}

DictionaryCursor::DictionaryCursor(const DictionaryBlock& block)
    : index_(block.index_), in_(block.entries_), left_(block.count_), offset_(block.base_) {}

arrow::Result<bool> DictionaryCursor::Next() {
  if (left_ == 0) {
    if (in_.remaining() != 0) return CorruptIndex(index_->name(), "bytes behind the last entry");
    return false;
  }
  --left_;
  const TermSuffix next = ReadSuffix(in_, term_.size());
  term_.resize(next.shared);
  term_ += next.suffix;
  ReadEntry(in_, *index_, offset_, entry_);
  if (!in_.ok()) return CorruptIndex(index_->name(), "dictionary block is malformed");
  offset_ = EndOf(entry_);
  return true;
}

}  // namespace infino::text
