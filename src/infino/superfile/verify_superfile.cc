#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_decimal.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/decimal.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/index/text/verify_text_index.h"
#include "infino/index/vector/verify_vector_index.h"
#include "infino/superfile/block_checksums.h"
#include "infino/superfile/parquet_guard.h"
#include "infino/superfile/range_file.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;

constexpr int64_t kBlocksPerRound = 32;
constexpr size_t kPagesPerRound = 256;

ByteSpan SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

arrow::Status Corrupt(const SuperfileReader& superfile, const std::string& what) {
  return MakeError(ErrorKind::kCorrupt, superfile.name() + ": " + what);
}

arrow::Status VerifyBody(const SuperfileReader& superfile) {
  const BlockChecksums& blocks = superfile.block_checksums();
  for (int64_t first = 0; first < blocks.count(); first += kBlocksPerRound) {
    const int64_t end = std::min(first + kBlocksPerRound, blocks.count());
    std::vector<ByteRange> ranges;
    for (int64_t block = first; block < end; ++block) ranges.push_back(blocks.PlaceOf(block));
    ARROW_ASSIGN_OR_RAISE(const Buffers bytes, Wait(superfile.file().Read(std::move(ranges))));
    for (int64_t block = first; block < end; ++block) {
      ARROW_RETURN_NOT_OK(blocks.Check(block, SpanOf(*bytes[static_cast<size_t>(block - first)]),
                                       superfile.name()));
    }
  }
  return arrow::Status::OK();
}

arrow::Status VerifyRegions(const SuperfileReader& superfile) {
  for (const SuperfileRegion& region : superfile.regions()) {
    ARROW_ASSIGN_OR_RAISE(const Buffers bytes, Wait(superfile.file().Read({region.place})));
    if (Crc32c(SpanOf(*bytes.front())) != region.checksum) {
      return Corrupt(superfile, "region " + region.name + " has a wrong checksum, offset=" +
                                    std::to_string(region.place.offset));
    }
  }
  return arrow::Status::OK();
}

arrow::Status VerifyTextIndexes(const SuperfileReader& superfile) {
  for (const int32_t field_id : superfile.text_field_ids()) {
    ARROW_RETURN_NOT_OK(text::VerifyTextIndex(*superfile.text_index(field_id),
                                              superfile.text_blob(field_id), superfile.id()));
  }
  return arrow::Status::OK();
}

arrow::Status VerifyVectorIndexes(const SuperfileReader& superfile) {
  for (const int32_t field_id : superfile.vector_field_ids()) {
    ARROW_RETURN_NOT_OK(vector::VerifyVectorIndex(*superfile.vector_index(field_id),
                                                  superfile.vector_blob(field_id), superfile.id()));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<const RowFetchMap>> LoadRowMap(const SuperfileReader& superfile) {
  if (superfile.row_map() == nullptr) {
    ARROW_ASSIGN_OR_RAISE(const Buffers bytes,
                          Wait(superfile.file().Read({superfile.row_map_place()})));
    ARROW_RETURN_NOT_OK(superfile.SetRowMap(bytes.front()));
  }
  return superfile.row_map();
}

arrow::Status VerifyPages(const SuperfileReader& superfile, const std::vector<ByteRange>& places,
                          const std::vector<uint32_t>& checksums) {
  for (size_t first = 0; first < places.size(); first += kPagesPerRound) {
    const size_t end = std::min(first + kPagesPerRound, places.size());
    std::vector<ByteRange> ranges(places.begin() + static_cast<std::ptrdiff_t>(first),
                                  places.begin() + static_cast<std::ptrdiff_t>(end));
    ARROW_ASSIGN_OR_RAISE(const Buffers bytes, Wait(superfile.file().Read(std::move(ranges))));
    for (size_t i = first; i < end; ++i) {
      if (Crc32c(SpanOf(*bytes[i - first])) == checksums[i]) continue;
      return Corrupt(superfile,
                     "page has a wrong checksum, offset=" + std::to_string(places[i].offset));
    }
  }
  return arrow::Status::OK();
}

/// The pages as the row-fetch map has them.
arrow::Status VerifyRowMap(const SuperfileReader& superfile, int leaf_count) {
  ARROW_ASSIGN_OR_RAISE(const auto map, LoadRowMap(superfile));
  for (int group = 0; group < map->row_group_count(); ++group) {
    for (int leaf = 0; leaf < leaf_count; ++leaf) {
      const ChunkPages& chunk = map->Chunk(group, leaf);
      std::vector<ByteRange> places;
      std::vector<uint32_t> checksums;
      if (chunk.dictionary.length > 0) {
        places.push_back(chunk.dictionary);
        checksums.push_back(chunk.dictionary_checksum);
      }
      for (const PagePlace& page : chunk.pages) {
        places.push_back({.offset = page.offset, .length = page.length});
        checksums.push_back(page.checksum);
      }
      ARROW_RETURN_NOT_OK(VerifyPages(superfile, places, checksums));
    }
  }
  return arrow::Status::OK();
}

arrow::Status VerifyIds(const SuperfileReader& superfile, const arrow::ChunkedArray& ids,
                        int64_t first_row) {
  int64_t row = first_row;
  for (const auto& chunk : ids.chunks()) {
    const auto& values = checked_cast<const arrow::Decimal128Array&>(*chunk);
    for (int64_t i = 0; i < values.length(); ++i, ++row) {
      const arrow::Decimal128 value(values.GetValue(i));
      const RowId id{.high = static_cast<uint64_t>(value.high_bits()), .low = value.low_bits()};
      if (row < superfile.row_count() && superfile.IdOf(static_cast<DocId>(row)) == id) continue;
      return Corrupt(superfile, "_id of row " + std::to_string(row) + " is not that of the id map");
    }
  }
  return arrow::Status::OK();
}

/// The file as any Parquet reader sees it: everything decodes, and says what the rest says.
arrow::Result<int> VerifyParquet(const SuperfileReader& superfile) {
  parquet::ReaderProperties properties;
  properties.set_page_checksum_verification(true);
  auto file = parquet::ParquetFileReader::Open(ToRandomAccessFile(superfile.file()), properties);
  ARROW_ASSIGN_OR_RAISE(
      auto reader, parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(file)));
  int64_t row = 0;
  for (int group = 0; group < reader->num_row_groups(); ++group) {
    ARROW_ASSIGN_OR_RAISE(const auto rows, reader->ReadRowGroup(group));
    if (rows->num_columns() != superfile.file_schema()->num_fields()) {
      return Corrupt(superfile, "footer has another number of columns");
    }
    ARROW_RETURN_NOT_OK(rows->ValidateFull());
    ARROW_RETURN_NOT_OK(VerifyIds(superfile, *rows->column(0), row));
    row += rows->num_rows();
  }
  if (row != superfile.row_count()) {
    return Corrupt(superfile, "footer has rows=" + std::to_string(row) +
                                  ", expected=" + std::to_string(superfile.row_count()));
  }
  return reader->parquet_reader()->metadata()->num_columns();
}

}  // namespace

arrow::Status VerifySuperfile(const SuperfileReader& superfile) {
  ARROW_RETURN_NOT_OK(VerifyBody(superfile));
  ARROW_RETURN_NOT_OK(VerifyRegions(superfile));
  ARROW_RETURN_NOT_OK(VerifyTextIndexes(superfile));
  ARROW_RETURN_NOT_OK(VerifyVectorIndexes(superfile));
  ARROW_ASSIGN_OR_RAISE(const OpenSectionPlace place,
                        FindOpenSection(superfile.file(), superfile.name()));
  if (place.place != superfile.open_section() || place.id != superfile.id()) {
    return Corrupt(superfile, "footer names another open section");
  }
  const auto leaf_count = GuardParquet([&] { return VerifyParquet(superfile); });
  if (!leaf_count.ok()) return CorruptParquet(leaf_count.status(), superfile.name());
  return VerifyRowMap(superfile, *leaf_count - 1);
}

}  // namespace infino
