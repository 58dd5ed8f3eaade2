#include "infino/index/vector/vector_index_reader.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/content_hash.h"
#include "infino/error.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_row.h"

namespace infino::vector {
namespace {

uint64_t NextUid() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool IsMetric(uint8_t value) {
  return value >= static_cast<uint8_t>(VectorMetric::kCosine) &&
         value <= static_cast<uint8_t>(VectorMetric::kNegativeDot);
}

int64_t DocBytes(uint32_t width, int64_t row_count) {
  constexpr auto kChunk = static_cast<int64_t>(kDocChunkSize);
  constexpr auto kChecksum = static_cast<int64_t>(kVectorChecksumSize);
  const auto whole = static_cast<int64_t>(PackedArrayBytes(kDocChunkSize, width)) + kChecksum;
  const int64_t rest = row_count % kChunk;
  const int64_t last =
      rest == 0
          ? 0
          : static_cast<int64_t>(PackedArrayBytes(static_cast<uint64_t>(rest), width)) + kChecksum;
  return row_count / kChunk * whole + last;
}

}  // namespace

uint32_t DocWidthOf(int64_t row_count) {
  return row_count <= 1
             ? 0
             : static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(row_count - 1)));
}

size_t BlockBytesOf(const VectorColumn& column) {
  return BlockContentBytes(column.dimension) + kVectorChecksumSize;
}

VectorBlobSections SectionsOf(const VectorColumn& column, int64_t row_count) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockCodes);
  VectorBlobSections sections;
  sections.docs = {.offset = static_cast<int64_t>(kVectorHeadSize),
                   .length = DocBytes(DocWidthOf(row_count), row_count)};
  sections.codes = {
      .offset = sections.docs.end(),
      .length = (row_count + kBlock - 1) / kBlock * static_cast<int64_t>(BlockBytesOf(column))};
  sections.rows = {.offset = sections.codes.end(),
                   .length = row_count * static_cast<int64_t>(RowBytesOf(column))};
  return sections;
}

bool EndsWithChecksum(ByteSpan bytes) {
  if (bytes.size() < kVectorChecksumSize) return false;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;
#else
  const ByteSpan content = bytes.first(bytes.size() - kVectorChecksumSize);
  return Crc32c(content) == LoadU32(bytes.data() + content.size());
#endif
}

VectorIndexReader::VectorIndexReader(Private /*tag*/, std::string name)
    : uid_(NextUid()), name_(std::move(name)) {}

arrow::Result<std::shared_ptr<const VectorIndexReader>> VectorIndexReader::Open(
    const std::shared_ptr<arrow::Buffer>& open_part, int64_t blob_length, std::string name) {
  auto reader = std::make_shared<VectorIndexReader>(Private(), std::move(name));
  ARROW_RETURN_NOT_OK(
      reader->Parse({open_part->data(), static_cast<size_t>(open_part->size())}, blob_length));
  return reader;
}

arrow::Status VectorIndexReader::Corrupt(const std::string& what) const {
  return MakeError(ErrorKind::kCorrupt, name_ + ": " + what);
}

arrow::Status VectorIndexReader::Parse(ByteSpan all, int64_t blob_length) {
  if (all.size() < kVectorChecksumSize) return Corrupt("open part is too short");
  ByteReader in(all.first(all.size() - kVectorChecksumSize), name_);
  ARROW_ASSIGN_OR_RAISE(const uint32_t magic, in.ReadU32());
  if (magic != kVectorOpenMagic) return Corrupt("open part has another magic number");
  if (!EndsWithChecksum(all)) return Corrupt("checksum of the open part does not match");
  ARROW_ASSIGN_OR_RAISE(const uint16_t version, in.ReadU16());
  if (version != kVectorFormatVersion) {
    return MakeError(
        ErrorKind::kUnsupportedVersion,
        name_ + ": version of the vector index is too new: version=" + std::to_string(version));
  }
  ARROW_RETURN_NOT_OK(in.ReadU16().status());  // flags
  ARROW_RETURN_NOT_OK(ParseColumn(in));
  ARROW_RETURN_NOT_OK(ParseLists(in));
  ARROW_RETURN_NOT_OK(ParseClusters(in));
  ARROW_RETURN_NOT_OK(ParseCurve(in));
  if (!in.AtEnd()) return in.Corrupt("open part has bytes behind its end");
  LaySections();
  const int64_t end = sections_.rows.end();
  if (blob_length != end) {
    return Corrupt("the blob's length does not fit its rows: length=" +
                   std::to_string(blob_length) + " expected=" + std::to_string(end));
  }
  return arrow::Status::OK();
}

arrow::Status VectorIndexReader::ParseColumn(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t rows, in.ReadVarint(uint64_t{kVectorRowsMax}));
  row_count_ = static_cast<uint32_t>(rows);
  ARROW_ASSIGN_OR_RAISE(const uint64_t dimension, in.ReadVarint(kDimensionMax));
  if (dimension < kDimensionMin) return in.Corrupt("dimension is too small");
  column_.dimension = static_cast<uint32_t>(dimension);
  ARROW_ASSIGN_OR_RAISE(const uint8_t metric, in.ReadU8());
  if (!IsMetric(metric)) return in.Corrupt("metric is unknown");
  column_.metric = static_cast<VectorMetric>(metric);
  ARROW_ASSIGN_OR_RAISE(const uint8_t tier, in.ReadU8());
  if (tier > static_cast<uint8_t>(RerankTier::kSq8Residual)) {
    return in.Corrupt("rerank tier is unknown");
  }
  column_.tier = static_cast<RerankTier>(tier);
  ARROW_ASSIGN_OR_RAISE(column_.rotation_seed, in.ReadU64());
  return arrow::Status::OK();
}

arrow::Status VectorIndexReader::ParseLists(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(VectorSpace::kListsMax));
  for (uint64_t i = 0; i < count; ++i) {
    ContentHash id;
    ARROW_ASSIGN_OR_RAISE(const ByteSpan bytes, in.ReadBytes(id.bytes.size()));
    std::ranges::copy(bytes, id.bytes.begin());
    if (!lists_.empty() && !(lists_.back() < id)) {
      return in.Corrupt("lists of reference points are out of order");
    }
    lists_.push_back(id);
  }
  return arrow::Status::OK();
}

arrow::Status VectorIndexReader::ParseClusters(ByteReader& in) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(lists_.size() * kPointsMax));
  uint32_t begin = 0;
  for (uint64_t i = 0; i < count; ++i) {
    VectorCluster cluster;
    ARROW_ASSIGN_OR_RAISE(cluster.point.list, in.ReadU8());
    ARROW_ASSIGN_OR_RAISE(cluster.point.place, in.ReadU8());
    ARROW_ASSIGN_OR_RAISE(const uint64_t size, in.ReadVarint(row_count_ - begin));
    if (size == 0) return in.Corrupt("a cluster is empty");
    if (cluster.point.list >= lists_.size()) return in.Corrupt("a cluster has no such list");
    if (!clusters_.empty() && !(clusters_.back().point < cluster.point)) {
      return in.Corrupt("clusters are out of order");
    }
    cluster.begin = begin;
    cluster.end = begin + static_cast<uint32_t>(size);
    begin = cluster.end;
    clusters_.push_back(cluster);
  }
  if (begin != row_count_) return in.Corrupt("clusters have another number of rows in all");
  return arrow::Status::OK();
}

arrow::Status VectorIndexReader::ParseCurve(ByteReader& in) {
  double before = 0;
  for (double& fraction : curve_) {
    ARROW_ASSIGN_OR_RAISE(const uint16_t stored, in.ReadU16());
    fraction = static_cast<double>(stored) / kWholeFraction;
    if (fraction < before) return in.Corrupt("the recall curve falls");
    before = fraction;
  }
  return arrow::Status::OK();
}

void VectorIndexReader::LaySections() {
  doc_width_ = DocWidthOf(row_count_);
  row_bytes_ = RowBytesOf(column_);
  block_bytes_ = BlockBytesOf(column_);
  sections_ = SectionsOf(column_, row_count_);
}

uint32_t VectorIndexReader::block_count() const {
  return static_cast<uint32_t>((size_t{row_count_} + kBlockCodes - 1) / kBlockCodes);
}

uint32_t VectorIndexReader::doc_chunk_count() const {
  return static_cast<uint32_t>((size_t{row_count_} + kDocChunkSize - 1) / kDocChunkSize);
}

uint32_t VectorIndexReader::DocChunkSize(uint32_t chunk) const {
  const size_t begin = size_t{chunk} * kDocChunkSize;
  return static_cast<uint32_t>(std::min(kDocChunkSize, row_count_ - begin));
}

ByteRange VectorIndexReader::DocChunk(uint32_t chunk) const {
  const auto whole =
      static_cast<int64_t>(PackedArrayBytes(kDocChunkSize, doc_width_) + kVectorChecksumSize);
  const auto length =
      static_cast<int64_t>(PackedArrayBytes(DocChunkSize(chunk), doc_width_) + kVectorChecksumSize);
  return {.offset = sections_.docs.offset + chunk * whole, .length = length};
}

ByteRange VectorIndexReader::Blocks(uint32_t begin, uint32_t end) const {
  const auto size = static_cast<int64_t>(block_bytes_);
  return {.offset = sections_.codes.offset + begin * size, .length = (end - begin) * size};
}

ByteRange VectorIndexReader::Rows(uint32_t begin, uint32_t end) const {
  const auto size = static_cast<int64_t>(row_bytes_);
  return {.offset = sections_.rows.offset + begin * size, .length = (end - begin) * size};
}

int64_t VectorIndexReader::memory_bytes() const {
  return static_cast<int64_t>(sizeof(*this) + name_.size() + lists_.size() * sizeof(ContentHash) +
                              clusters_.size() * sizeof(VectorCluster));
}

}  // namespace infino::vector
