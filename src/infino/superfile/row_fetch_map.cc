#include "infino/superfile/row_fetch_map.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/types.h>

#include "infino/common/bytes.h"
#include "infino/options.h"

namespace infino {
namespace {

constexpr uint64_t kPageLengthMax = std::numeric_limits<int32_t>::max();

/// At least: length, rows, checksum.
constexpr uint64_t kPageBytesMin = 6;

/// At least: offset, dictionary length, page count.
constexpr uint64_t kChunkBytesMin = 3;

arrow::Result<Compression> ReadCompression(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const uint8_t code, in.ReadU8());
  if (code > static_cast<uint8_t>(Compression::kNone)) return in.Corrupt("row map: compression");
  return static_cast<Compression>(code);
}

arrow::Status ReadPages(ByteReader& in, int64_t row_count, int64_t body_length, int64_t offset,
                        ChunkPages& chunk) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t page_count, in.ReadVarint(in.remaining() / kPageBytesMin));
  chunk.pages.reserve(page_count);
  auto rows_left = static_cast<uint64_t>(row_count);
  for (uint64_t i = 0; i < page_count; ++i) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t length, in.ReadVarint(kPageLengthMax));
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, in.ReadVarint(rows_left));
    ARROW_ASSIGN_OR_RAISE(const uint32_t checksum, in.ReadU32());
    if (length == 0 || rows == 0) return in.Corrupt("row map: empty page");
    if (static_cast<int64_t>(length) > body_length - offset) {
      return in.Corrupt("row map: page outside of the body");
    }
    chunk.pages.push_back(
        {.offset = offset,
         .length = static_cast<int32_t>(length),
         .first_row = static_cast<uint32_t>(row_count) - static_cast<uint32_t>(rows_left),
         .checksum = checksum});
    offset += static_cast<int64_t>(length);
    rows_left -= rows;
  }
  return rows_left == 0 ? arrow::Status::OK() : in.Corrupt("row map: rows of a chunk");
}

arrow::Result<ChunkPages> ReadChunk(ByteReader& in, int64_t row_count, int64_t body_length) {
  ChunkPages chunk;
  ARROW_ASSIGN_OR_RAISE(const uint64_t start, in.ReadVarint(static_cast<uint64_t>(body_length)));
  auto offset = static_cast<int64_t>(start);
  ARROW_ASSIGN_OR_RAISE(const uint64_t dictionary_length, in.ReadVarint(kPageLengthMax));
  if (dictionary_length > 0) {
    if (static_cast<int64_t>(dictionary_length) > body_length - offset) {
      return in.Corrupt("row map: dictionary outside of the body");
    }
    chunk.dictionary = {.offset = offset, .length = static_cast<int64_t>(dictionary_length)};
    ARROW_ASSIGN_OR_RAISE(chunk.dictionary_checksum, in.ReadU32());
    offset = chunk.dictionary.end();
  }
  ARROW_RETURN_NOT_OK(ReadPages(in, row_count, body_length, offset, chunk));
  return chunk;
}

}  // namespace

parquet::Compression::type ToParquet(Compression compression) {
  switch (compression) {
    case Compression::kZstd:
      return parquet::Compression::ZSTD;
    case Compression::kLz4:
      return parquet::Compression::LZ4;
    case Compression::kNone:
      return parquet::Compression::UNCOMPRESSED;
  }
  return parquet::Compression::UNCOMPRESSED;
}

arrow::Result<std::shared_ptr<const RowFetchMap>> RowFetchMap::Parse(ByteSpan bytes,
                                                                     const std::string& object,
                                                                     const Limits& limits) {
  ByteReader in(bytes, object);
  ARROW_ASSIGN_OR_RAISE(const Compression compression, ReadCompression(in));
  auto map = std::make_shared<RowFetchMap>(compression);
  ARROW_ASSIGN_OR_RAISE(const uint64_t group_count, in.ReadVarint(in.remaining()));
  auto rows_left = static_cast<uint64_t>(limits.row_count);
  for (uint64_t group = 0; group < group_count; ++group) {
    ARROW_ASSIGN_OR_RAISE(const uint64_t rows, in.ReadVarint(rows_left));
    if (rows == 0) return in.Corrupt("row map: empty row group");
    rows_left -= rows;
    const auto leaf_count = static_cast<uint64_t>(limits.leaf_count);
    if (in.remaining() / kChunkBytesMin < leaf_count) return in.Corrupt("row map: leaf count");
    std::vector<ChunkPages> leaves;
    leaves.reserve(leaf_count);
    for (uint64_t leaf = 0; leaf < leaf_count; ++leaf) {
      ARROW_ASSIGN_OR_RAISE(ChunkPages chunk,
                            ReadChunk(in, static_cast<int64_t>(rows), limits.body_length));
      leaves.push_back(std::move(chunk));
    }
    map->AddRowGroup(static_cast<int64_t>(rows), std::move(leaves));
  }
  if (rows_left != 0) return in.Corrupt("row map: row count");
  if (!in.AtEnd()) return in.Corrupt("row map: bytes behind the end");
  return map;
}

void RowFetchMap::AddRowGroup(int64_t row_count, std::vector<ChunkPages> leaves) {
  starts_.push_back(starts_.back() + row_count);
  for (const ChunkPages& leaf : leaves) {
    memory_bytes_ +=
        static_cast<int64_t>(sizeof(ChunkPages) + (leaf.pages.capacity() * sizeof(PagePlace)));
    dictionary_bytes_ += leaf.dictionary.length;
  }
  row_groups_.push_back(std::move(leaves));
}

void RowFetchMap::Encode(ByteWriter& out) const {
  out.WriteU8(static_cast<uint8_t>(compression_));
  out.WriteVarint(row_groups_.size());
  for (size_t group = 0; group < row_groups_.size(); ++group) {
    const int64_t rows = starts_[group + 1] - starts_[group];
    out.WriteVarint(static_cast<uint64_t>(rows));
    for (const ChunkPages& chunk : row_groups_[group]) {
      const bool has_dictionary = chunk.dictionary.length > 0;
      const int64_t start = has_dictionary ? chunk.dictionary.offset : chunk.pages.front().offset;
      out.WriteVarint(static_cast<uint64_t>(start));
      out.WriteVarint(static_cast<uint64_t>(chunk.dictionary.length));
      if (has_dictionary) out.WriteU32(chunk.dictionary_checksum);
      out.WriteVarint(chunk.pages.size());
      for (size_t i = 0; i < chunk.pages.size(); ++i) {
        const auto end =
            i + 1 < chunk.pages.size() ? chunk.pages[i + 1].first_row : static_cast<uint32_t>(rows);
        out.WriteVarint(static_cast<uint64_t>(chunk.pages[i].length));
        out.WriteVarint(end - chunk.pages[i].first_row);
        out.WriteU32(chunk.pages[i].checksum);
      }
    }
  }
}

}  // namespace infino
