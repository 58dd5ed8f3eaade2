#include "infino/index/vector/verify_vector_index.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"

namespace infino::vector {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;

class Verifier {
 public:
  Verifier(const VectorIndexReader& index, const RangeReader& blob) : index_(index), blob_(blob) {}

  arrow::Status Run(const SuperfileId& superfile) {
    ARROW_RETURN_NOT_OK(CheckHead(superfile));
    if (index_.row_count() == 0) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(CheckDocs());
    ARROW_RETURN_NOT_OK(CheckCodes());
    return index_.row_bytes() == 0 ? arrow::Status::OK() : CheckRows();
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) const {
    ARROW_ASSIGN_OR_RAISE(const Buffers buffers, Wait(blob_.Read({range})));
    return buffers.front();
  }

  arrow::Status CheckHead(const SuperfileId& superfile) const {
    ARROW_ASSIGN_OR_RAISE(const auto buffer,
                          Read({.offset = 0, .length = static_cast<int64_t>(kVectorHeadSize)}));
    const ByteSpan bytes(buffer->data(), kVectorHeadSize);
    if (!EndsWithChecksum(bytes)) return index_.Corrupt("head of the blob has a wrong checksum");
    ByteReader in(bytes, index_.name());
    ARROW_ASSIGN_OR_RAISE(const uint32_t magic, in.ReadU32());
    ARROW_ASSIGN_OR_RAISE(const uint32_t kind_and_version, in.ReadU32());
    constexpr uint32_t kExpected = kVectorIndexKind | uint32_t{kVectorFormatVersion} << 16U;
    if (magic != kVectorBlobMagic || kind_and_version != kExpected) {
      return index_.Corrupt("head of the blob is not that of a vector index");
    }
    ARROW_ASSIGN_OR_RAISE(const ByteSpan id, in.ReadBytes(superfile.bytes.size()));
    if (!std::ranges::equal(id, superfile.bytes)) {
      return index_.Corrupt("head of the blob names another superfile");
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckDocs() const {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, Read(index_.sections().docs));
    StoredCodes docs(index_);
    ARROW_RETURN_NOT_OK(docs.AddDocs(index_, 0, index_.doc_chunk_count(), *bytes));
    std::vector<bool> met(index_.row_count());
    for (const VectorCluster& cluster : index_.clusters()) {
      int64_t last = -1;
      for (uint32_t position = cluster.begin; position < cluster.end; ++position) {
        const DocId doc = docs.DocAt(position);
        if (met[doc] || int64_t{doc} <= last) {
          return index_.Corrupt("a document stands there twice or out of order: position=" +
                                std::to_string(position));
        }
        met[doc] = true;
        last = doc;
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckCodes() const {
    const auto batch =
        static_cast<uint32_t>(std::max<size_t>(1, kBatchBytes / index_.block_bytes()));
    for (uint32_t begin = 0; begin < index_.block_count(); begin += batch) {
      const uint32_t end = std::min(index_.block_count(), begin + batch);
      ARROW_ASSIGN_OR_RAISE(auto bytes, Read(index_.Blocks(begin, end)));
      StoredCodes codes(index_);
      ARROW_RETURN_NOT_OK(codes.AddBlocks(index_, begin, end, bytes));
      if (end == index_.block_count()) ARROW_RETURN_NOT_OK(CheckPadding(codes.Block(end - 1)));
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckPadding(const uint8_t* block) const {
    const size_t dimension = index_.column().dimension;
    std::vector<uint8_t> record(CodeRecordBytes(dimension));
    const std::span<const uint8_t> content(block, BlockContentBytes(dimension));
    for (size_t i = index_.row_count() % kBlockCodes; i % kBlockCodes != 0; ++i) {
      UnpackRecord(content, i, dimension, record);
      if (std::ranges::any_of(record, [](uint8_t byte) { return byte != 0; })) {
        return index_.Corrupt("there is something behind the last code");
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status CheckRows() const {
    const RowFormat format(index_.column());
    const size_t size = index_.row_bytes();
    const auto batch = static_cast<uint32_t>(std::max<size_t>(1, kBatchBytes / size));
    std::vector<float> vector(index_.column().dimension);
    for (uint32_t begin = 0; begin < index_.row_count(); begin += batch) {
      const uint32_t end = std::min(index_.row_count(), begin + batch);
      ARROW_ASSIGN_OR_RAISE(const auto bytes, Read(index_.Rows(begin, end)));
      for (uint32_t position = begin; position < end; ++position) {
        const std::span<const uint8_t> row(bytes->data() + (position - begin) * size, size);
        ARROW_RETURN_NOT_OK(CheckRow(index_, position, row));
        format.Decode(row, vector);
        if (std::ranges::all_of(vector, [](float number) { return std::isfinite(number); })) {
          continue;
        }
        return index_.Corrupt("a vector is not finite: position=" + std::to_string(position));
      }
    }
    return arrow::Status::OK();
  }

  const VectorIndexReader& index_;
  const RangeReader& blob_;
};

}  // namespace

arrow::Status VerifyVectorIndex(const VectorIndexReader& index, const RangeReader& blob,
                                const SuperfileId& superfile) {
  return Verifier(index, blob).Run(superfile);
}

}  // namespace infino::vector
