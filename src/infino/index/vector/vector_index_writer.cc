#include "infino/index/vector/vector_index_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/recall_measure.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

/// About how much is read and written at a time.
constexpr size_t kBatchBytes = size_t{1} << 20;

class Writer {
 public:
  Writer(const VectorSpace& space, EncodedRows& rows, arrow::io::OutputStream& sink)
      : space_(space), rows_(rows), sink_(sink) {
    row_count_ = rows.clusters().empty() ? 0 : rows.clusters().back().end;
  }

  arrow::Result<FinishedVectorIndex> Run(const SuperfileId& superfile) {
    ARROW_ASSIGN_OR_RAISE(const ClusterMap map,
                          ClusterMap::Make(rows_.lists(), rows_.clusters(), space_));
    ARROW_ASSIGN_OR_RAISE(measure_, RecallMeasure::Make(space_, map, rows_));
    ARROW_RETURN_NOT_OK(WriteHead(superfile));
    ARROW_RETURN_NOT_OK(WriteDocs());
    ARROW_RETURN_NOT_OK(WriteCodes());
    if (space_.column().tier != RerankTier::kNone) ARROW_RETURN_NOT_OK(WriteRows());
    return Finish();
  }

 private:
  arrow::Status Write(ByteSpan bytes) {
    return sink_.Write(bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  arrow::Status WriteHead(const SuperfileId& superfile) {
    ByteWriter head;
    head.WriteU32(kVectorBlobMagic);
    head.WriteU8(kVectorIndexKind);
    head.WriteU8(0);
    head.WriteU16(kVectorFormatVersion);
    head.WriteBytes(superfile.bytes);
    head.WriteU32(0);
    head.WriteU32(Crc32c(head.bytes()));
    return Write(head.bytes());
  }

  arrow::Status WriteDocs() {
    const uint32_t width = DocWidthOf(row_count_);
    std::vector<DocId> docs(kDocChunkSize);
    for (size_t begin = 0; begin < row_count_; begin += kDocChunkSize) {
      docs.resize(std::min(kDocChunkSize, row_count_ - begin));
      ARROW_RETURN_NOT_OK(rows_.ReadDocs(static_cast<uint32_t>(begin), docs));
      std::vector<uint8_t> packed(PackedArrayBytes(docs.size(), width));
      PackArray(docs, width, packed);
      ByteWriter chunk;
      chunk.WriteBytes(packed);
      chunk.WriteU32(Crc32c(packed));
      ARROW_RETURN_NOT_OK(Write(chunk.bytes()));
    }
    return arrow::Status::OK();
  }

  arrow::Status WriteCodes() {
    const size_t dimension = space_.column().dimension;
    const size_t record_bytes = CodeRecordBytes(dimension);
    const size_t batch =
        std::max<size_t>(1, kBatchBytes / record_bytes / kBlockCodes) * kBlockCodes;
    std::vector<uint8_t> block(BlockContentBytes(dimension));
    std::vector<uint8_t> records;
    ByteWriter out;
    for (size_t begin = 0; begin < row_count_; begin += batch) {
      records.resize(std::min(batch, row_count_ - begin) * record_bytes);
      ARROW_RETURN_NOT_OK(rows_.ReadCodes(static_cast<uint32_t>(begin), records));
      out.Clear();
      for (size_t at = 0; at < records.size(); at += kBlockCodes * record_bytes) {
        const size_t size = std::min(kBlockCodes * record_bytes, records.size() - at);
        PackBlock(ByteSpan(records).subspan(at, size), dimension, block);
        const size_t number = (begin + at / record_bytes) / kBlockCodes;
        measure_->TakeBlock(block, static_cast<uint32_t>(number));
        out.WriteBytes(block);
        out.WriteU32(Crc32c(block));
      }
      ARROW_RETURN_NOT_OK(Write(out.bytes()));
    }
    return arrow::Status::OK();
  }

  arrow::Status WriteRows() {
    const size_t row_bytes = RowBytesOf(space_.column());
    const size_t batch = std::max<size_t>(1, kBatchBytes / row_bytes);
    std::vector<uint8_t> rows;
    for (size_t begin = 0; begin < row_count_; begin += batch) {
      rows.resize(std::min(batch, row_count_ - begin) * row_bytes);
      ARROW_RETURN_NOT_OK(rows_.ReadRows(static_cast<uint32_t>(begin), rows));
      measure_->TakeRows(rows, static_cast<uint32_t>(begin));
      ARROW_RETURN_NOT_OK(Write(rows));
    }
    return arrow::Status::OK();
  }

  arrow::Result<FinishedVectorIndex> Finish() {
    const VectorColumn& column = space_.column();
    ByteWriter out;
    out.WriteU32(kVectorOpenMagic);
    out.WriteU16(kVectorFormatVersion);
    out.WriteU16(0);
    out.WriteVarint(row_count_);
    out.WriteVarint(column.dimension);
    out.WriteU8(static_cast<uint8_t>(column.metric));
    out.WriteU8(static_cast<uint8_t>(column.tier));
    out.WriteU64(column.rotation_seed);
    out.WriteVarint(rows_.lists().size());
    for (const ContentHash& id : rows_.lists()) out.WriteBytes(id.bytes);
    out.WriteVarint(rows_.clusters().size());
    for (const VectorCluster& cluster : rows_.clusters()) {
      out.WriteU8(cluster.point.list);
      out.WriteU8(cluster.point.place);
      out.WriteVarint(cluster.size());
    }
    for (const double fraction : measure_->Finish()) {
      out.WriteU16(static_cast<uint16_t>(std::ceil(fraction * kWholeFraction)));
    }
    out.WriteU32(Crc32c(out.bytes()));
    return FinishedVectorIndex{.open_part = ToBuffer(out.Take()),
                               .blob_length = SectionsOf(column, row_count_).rows.end(),
                               .row_count = row_count_};
  }

  const VectorSpace& space_;
  EncodedRows& rows_;
  arrow::io::OutputStream& sink_;
  uint32_t row_count_ = 0;
  std::unique_ptr<RecallMeasure> measure_;
};

}  // namespace

arrow::Result<FinishedVectorIndex> WriteVectorIndex(const VectorSpace& space, EncodedRows& rows,
                                                    const SuperfileId& superfile,
                                                    arrow::io::OutputStream& sink) {
  return Writer(space, rows, sink).Run(superfile);
}

}  // namespace infino::vector
