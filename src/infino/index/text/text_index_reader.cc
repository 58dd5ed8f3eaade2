#include "infino/index/text/text_index_reader.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/error.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/text_format.h"

namespace infino::text {
namespace {

uint64_t NextUid() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

arrow::Result<ByteRange> ReadSection(ByteReader& in, int64_t start, int64_t end) {
  const auto limit = static_cast<uint64_t>(end);
  ByteRange section;
  ARROW_ASSIGN_OR_RAISE(const uint64_t offset, in.ReadVarint(limit));
  ARROW_ASSIGN_OR_RAISE(const uint64_t length, in.ReadVarint(limit - offset));
  section.offset = static_cast<int64_t>(offset);
  section.length = static_cast<int64_t>(length);
  if (section.offset != start) return in.Corrupt("sections of the blob do not follow each other");
  return section;
}

arrow::Result<std::string> ReadTerm(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const std::string_view term, in.ReadString());
  if (term.size() > kTermLengthMax) return in.Corrupt("term is too long");
  return std::string(term);
}

arrow::Result<int64_t> ReadCount(ByteReader& in, int64_t limit) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(static_cast<uint64_t>(limit)));
  return static_cast<int64_t>(count);
}

}  // namespace

TextIndexReader::TextIndexReader(Private /*tag*/, std::shared_ptr<arrow::Buffer> open_part,
                                 std::string name)
    : uid_(NextUid()), open_part_(std::move(open_part)), name_(std::move(name)) {}

TextIndexReader::~TextIndexReader() = default;

arrow::Result<std::shared_ptr<const TextIndexReader>> TextIndexReader::Open(
    std::shared_ptr<arrow::Buffer> open_part, int64_t blob_length, std::string name) {
  auto reader = std::make_shared<TextIndexReader>(Private(), std::move(open_part), std::move(name));
  ARROW_RETURN_NOT_OK(reader->Parse(blob_length));
  return reader;
}

arrow::Status TextIndexReader::Parse(int64_t blob_length) {
  const ByteSpan all(open_part_->data(), static_cast<size_t>(open_part_->size()));
  if (all.size() < kChecksumSize) return CorruptIndex(name_, "open part is too short");
  const ByteSpan bytes = all.first(all.size() - kChecksumSize);
  ByteReader in(bytes, name_);
  ARROW_ASSIGN_OR_RAISE(const uint32_t magic, in.ReadU32());
  if (magic != kOpenPartMagic) return CorruptIndex(name_, "open part has another magic number");
  if (!ChecksumMatches(bytes, LoadU32(all.data() + bytes.size()))) {
    return CorruptIndex(name_, "checksum of the open part does not match");
  }
  ARROW_ASSIGN_OR_RAISE(const uint16_t version, in.ReadU16());
  if (version != kTextFormatVersion) {
    return MakeError(
        ErrorKind::kUnsupportedVersion,
        name_ + ": version of the text index is too new: version=" + std::to_string(version));
  }
  ARROW_ASSIGN_OR_RAISE(const uint16_t flags, in.ReadU16());
  has_positions_ = (flags & kHasPositions) != 0;
  has_inline_dictionary_ = (flags & kHasInlineDictionary) != 0;
  ARROW_RETURN_NOT_OK(ParseSummary(in));
  ARROW_RETURN_NOT_OK(ParseSections(in, blob_length));
  ARROW_RETURN_NOT_OK(ParseLengthChunks(in));
  return ParseDictionary(in);
}

arrow::Status TextIndexReader::ParseSummary(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(summary_.row_count, ReadCount(in, kRowCountMax));
  ARROW_ASSIGN_OR_RAISE(summary_.rows_with_token, ReadCount(in, summary_.row_count));
  ARROW_ASSIGN_OR_RAISE(summary_.token_total,
                        ReadCount(in, summary_.rows_with_token * kDocumentLengthMax));
  ARROW_ASSIGN_OR_RAISE(summary_.term_count, ReadCount(in, summary_.token_total));
  ARROW_ASSIGN_OR_RAISE(summary_.min_term, ReadTerm(in));
  ARROW_ASSIGN_OR_RAISE(summary_.max_term, ReadTerm(in));
  ARROW_ASSIGN_OR_RAISE(const std::string_view analyzer, in.ReadString());
  ARROW_ASSIGN_OR_RAISE(const uint64_t revision, in.ReadVarint(UINT32_MAX));
  ARROW_ASSIGN_OR_RAISE(const std::string_view stopwords, in.ReadString());
  ARROW_ASSIGN_OR_RAISE(const std::string_view stemmer, in.ReadString());
  analyzer_ = {.name = std::string(analyzer),
               .revision = static_cast<uint32_t>(revision),
               .stopwords = std::string(stopwords),
               .stemmer = std::string(stemmer)};
  return arrow::Status::OK();
}

arrow::Status TextIndexReader::ParseSections(ByteReader& in, int64_t blob_length) {
  ARROW_ASSIGN_OR_RAISE(sections_.postings, ReadSection(in, kBlobHeadSize, blob_length));
  ARROW_ASSIGN_OR_RAISE(sections_.lengths, ReadSection(in, sections_.postings.end(), blob_length));
  ARROW_ASSIGN_OR_RAISE(sections_.dictionary,
                        ReadSection(in, sections_.lengths.end(), blob_length));
  return arrow::Status::OK();
}

arrow::Status TextIndexReader::ParseLengthChunks(ByteReader& in) {
  const auto rows = static_cast<uint64_t>(summary_.row_count);
  const uint64_t count = (rows + kLengthChunkSize - 1) / kLengthChunkSize;
  constexpr size_t kChunkEntrySize = 5;
  if (count > in.remaining() / kChunkEntrySize) return in.Corrupt("table of lengths is cut off");
  length_chunks_.reserve(count);
  uint64_t offset = 0;
  for (uint64_t i = 0; i < count; ++i) {
    LengthChunk chunk{.offset = offset};
    ARROW_ASSIGN_OR_RAISE(chunk.width, in.ReadU8());
    ARROW_ASSIGN_OR_RAISE(chunk.checksum, in.ReadU32());
    if (chunk.width > kLengthWidthMax) return in.Corrupt("document lengths are too wide");
    offset += LengthChunkBytes(std::min<uint64_t>(kLengthChunkSize, rows - i * kLengthChunkSize),
                               chunk.width);
    length_chunks_.push_back(chunk);
  }
  if (offset != static_cast<uint64_t>(sections_.lengths.length)) {
    return in.Corrupt("section of lengths has another size than its chunks");
  }
  return arrow::Status::OK();
}

arrow::Status TextIndexReader::ParseDictionary(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t size, in.ReadVarint());
  ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, in.ReadBytes(size));
  if (!in.AtEnd()) return in.Corrupt("bytes behind the dictionary");
  if (has_inline_dictionary_) {
    inline_dictionary_ = bytes;
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(FstReader blocks, FstReader::Open(bytes, name_));
  blocks_.emplace(std::move(blocks));
  return arrow::Status::OK();
}

arrow::Result<ByteRange> TextIndexReader::DictionaryBlockAt(uint64_t value) const {
  const uint64_t offset = value >> kBlockLengthBits;
  const uint64_t length = value & kDictionaryBlockMax;
  const auto size = static_cast<uint64_t>(sections_.dictionary.length);
  if (offset > size || length > size - offset) {
    return CorruptIndex(name_, "dictionary block lies outside the dictionary");
  }
  return ByteRange{.offset = sections_.dictionary.offset + static_cast<int64_t>(offset),
                   .length = static_cast<int64_t>(length)};
}

arrow::Result<std::optional<ByteRange>> TextIndexReader::FindDictionaryBlock(
    std::string_view term) const {
  if (term < summary_.min_term || term > summary_.max_term) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const std::optional<uint64_t> found, dictionary_blocks()->FindFloor(term));
  if (!found.has_value()) return std::nullopt;
  return DictionaryBlockAt(*found);
}

arrow::Result<std::vector<ByteRange>> TextIndexReader::FindDictionaryBlocks(
    std::string_view prefix) const {
  const FstReader& transducer = *dictionary_blocks();
  std::vector<ByteRange> blocks;
  if (prefix > summary_.max_term) return blocks;
  if (prefix < summary_.min_term && !summary_.min_term.starts_with(prefix)) return blocks;
  ARROW_ASSIGN_OR_RAISE(const std::optional<uint64_t> floor, transducer.FindFloor(prefix));
  if (floor.has_value()) {
    ARROW_ASSIGN_OR_RAISE(const ByteRange block, DictionaryBlockAt(*floor));
    blocks.push_back(block);
  }
  FstReader::Cursor cursor = transducer.MakeCursor();
  ARROW_RETURN_NOT_OK(cursor.Seek(prefix));
  while (cursor.valid() && cursor.key().starts_with(prefix)) {
    ARROW_ASSIGN_OR_RAISE(const ByteRange block, DictionaryBlockAt(cursor.value()));
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
    ARROW_RETURN_NOT_OK(cursor.Next());
  }
  return blocks;
}

int64_t TextIndexReader::memory_bytes() const {
  return open_part_->size() + static_cast<int64_t>(sizeof(*this)) +
         static_cast<int64_t>(length_chunks_.capacity() * sizeof(LengthChunk));
}

}  // namespace infino::text
