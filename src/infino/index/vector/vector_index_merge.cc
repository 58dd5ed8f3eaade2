#include "infino/index/vector/vector_index_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/stored_codes.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"

namespace infino::vector {
namespace {

constexpr auto kBlock = static_cast<uint32_t>(kBlockCodes);

arrow::Status Refuse(const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument, "merge vector indexes: " + what);
}

/// One input, read from front to back, a stretch at a time.
class InputReader {
 public:
  InputReader(const VectorIndexInput& input, int64_t read_bytes)
      : index_(*input.index), read_(input.read), read_bytes_(std::max<int64_t>(read_bytes, 1)) {}

  [[nodiscard]] const VectorIndexReader& index() const { return index_; }

  /// Reads and checks all documents.
  arrow::Status ReadDocs() {
    docs_ = std::make_unique<StoredCodes>(index_);
    if (index_.row_count() == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto bytes, Read(index_.sections().docs));
    return docs_->AddDocs(index_, 0, index_.doc_chunk_count(), *bytes);
  }

  [[nodiscard]] DocId DocAt(uint32_t position) const { return docs_->DocAt(position); }

  void DropDocs() { docs_.reset(); }

  arrow::Status CopyCode(uint32_t position, std::span<uint8_t> record) {
    const uint32_t block = position / kBlock;
    if (block < blocks_begin_ || block >= blocks_end_) ARROW_RETURN_NOT_OK(ReadBlocks(block));
    UnpackRecord({blocks_->Block(block), index_.block_bytes()}, position % kBlock,
                 index_.column().dimension, record);
    return arrow::Status::OK();
  }

  arrow::Status CopyRow(uint32_t position, std::span<uint8_t> row) {
    if (position < rows_begin_ || position >= rows_end_) {
      rows_end_ = UntilRead(position, index_.row_bytes(), index_.row_count());
      rows_begin_ = position;
      ARROW_ASSIGN_OR_RAISE(rows_, Read(index_.Rows(rows_begin_, rows_end_)));
    }
    const std::span<const uint8_t> stored(
        rows_->data() + size_t{position - rows_begin_} * row.size(), row.size());
    ARROW_RETURN_NOT_OK(CheckRow(index_, position, stored));
    std::ranges::copy(stored, row.begin());
    return arrow::Status::OK();
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(ByteRange range) const {
    ARROW_ASSIGN_OR_RAISE(auto bytes, read_(range));
    if (bytes->size() != range.length) {
      return index_.Corrupt("a read of the blob came short: offset=" +
                            std::to_string(range.offset));
    }
    return bytes;
  }

  [[nodiscard]] uint32_t UntilRead(uint32_t begin, size_t size, uint32_t end) const {
    const auto count = std::max<uint64_t>(1, static_cast<uint64_t>(read_bytes_) / size);
    return static_cast<uint32_t>(std::min<uint64_t>(end, begin + count));
  }

  arrow::Status ReadBlocks(uint32_t begin) {
    blocks_begin_ = begin;
    blocks_end_ = UntilRead(begin, index_.block_bytes(), index_.block_count());
    ARROW_ASSIGN_OR_RAISE(auto bytes, Read(index_.Blocks(blocks_begin_, blocks_end_)));
    blocks_ = std::make_unique<StoredCodes>(index_);
    return blocks_->AddBlocks(index_, blocks_begin_, blocks_end_, std::move(bytes));
  }

  const VectorIndexReader& index_;
  const BlobRead& read_;
  int64_t read_bytes_;
  std::unique_ptr<StoredCodes> docs_;
  std::unique_ptr<StoredCodes> blocks_;
  uint32_t blocks_begin_ = 0;
  uint32_t blocks_end_ = 0;
  std::shared_ptr<arrow::Buffer> rows_;
  uint32_t rows_begin_ = 0;
  uint32_t rows_end_ = 0;
};

/// The surviving rows of all inputs, in the result's order.
class MergedRows final : public EncodedRows {
 public:
  MergedRows(std::span<const VectorIndexInput> inputs, int64_t read_bytes) : inputs_(inputs) {
    for (const VectorIndexInput& input : inputs) {
      readers_.push_back(std::make_unique<InputReader>(input, read_bytes));
    }
  }

  arrow::Status Open() {
    ARROW_RETURN_NOT_OK(CheckDocs());
    for (const auto& reader : readers_) ARROW_RETURN_NOT_OK(reader->ReadDocs());
    // By id and place: the order of clusters.
    std::map<std::pair<ContentHash, uint8_t>, std::vector<Place>> clusters;
    for (uint32_t i = 0; i < readers_.size(); ++i) ARROW_RETURN_NOT_OK(Sort(i, clusters));
    for (auto& [point, places] : clusters) {
      std::ranges::sort(places, {}, &Place::doc);
      if (lists_.empty() || lists_.back() != point.first) lists_.push_back(point.first);
      const auto begin = static_cast<uint32_t>(places_.size());
      places_.insert(places_.end(), places.begin(), places.end());
      places = {};
      clusters_.push_back(
          {.point = {.list = static_cast<uint8_t>(lists_.size() - 1), .place = point.second},
           .begin = begin,
           .end = static_cast<uint32_t>(places_.size())});
    }
    for (const auto& reader : readers_) reader->DropDocs();
    return arrow::Status::OK();
  }

  [[nodiscard]] std::span<const ContentHash> lists() const override { return lists_; }

  [[nodiscard]] std::span<const VectorCluster> clusters() const override { return clusters_; }

  arrow::Status ReadDocs(uint32_t begin, std::span<DocId> docs) override {
    for (size_t i = 0; i < docs.size(); ++i) docs[i] = places_[begin + i].doc;
    return arrow::Status::OK();
  }

  arrow::Status ReadCodes(uint32_t begin, std::span<uint8_t> records) override {
    const size_t size = CodeRecordBytes(inputs_.front().index->column().dimension);
    for (size_t i = 0; i * size < records.size(); ++i) {
      const Place& place = places_[begin + i];
      ARROW_RETURN_NOT_OK(
          readers_[place.input]->CopyCode(place.position, records.subspan(i * size, size)));
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadRows(uint32_t begin, std::span<uint8_t> rows) override {
    const size_t size = inputs_.front().index->row_bytes();
    for (size_t i = 0; i * size < rows.size(); ++i) {
      const Place& place = places_[begin + i];
      ARROW_RETURN_NOT_OK(
          readers_[place.input]->CopyRow(place.position, rows.subspan(i * size, size)));
    }
    return arrow::Status::OK();
  }

 private:
  struct Place {
    DocId doc = 0;  // in the result
    uint32_t input = 0;
    uint32_t position = 0;
  };

  /// That new documents are numbered from 0 without gaps, ascending in each input.
  arrow::Status CheckDocs() const {
    uint64_t total = 0;
    for (const VectorIndexInput& input : inputs_) {
      if (input.new_docs.size() != input.index->row_count()) {
        return Refuse(input.index->name() + " has another number of documents than are mapped");
      }
      total += static_cast<uint64_t>(
          std::ranges::count_if(input.new_docs, [](DocId doc) { return doc != kGoneDoc; }));
    }
    if (total > static_cast<uint64_t>(kVectorRowsMax)) return Refuse("too many documents");
    std::vector<bool> taken(total);
    for (const VectorIndexInput& input : inputs_) {
      int64_t last = -1;
      for (const DocId doc : input.new_docs) {
        if (doc == kGoneDoc) continue;
        if (doc >= total || taken[doc] || int64_t{doc} <= last) {
          return Refuse("a new document of " + input.index->name() +
                        " is out of order, out of range or taken: document=" + std::to_string(doc));
        }
        taken[doc] = true;
        last = doc;
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status Sort(uint32_t input,
                     std::map<std::pair<ContentHash, uint8_t>, std::vector<Place>>& clusters) {
    const InputReader& reader = *readers_[input];
    const VectorIndexReader& index = reader.index();
    std::vector<bool> met(index.row_count());
    for (const VectorCluster& cluster : index.clusters()) {
      std::vector<Place>* places = nullptr;
      for (uint32_t position = cluster.begin; position < cluster.end; ++position) {
        const DocId doc = reader.DocAt(position);
        if (met[doc]) return index.Corrupt("a document has two vectors");
        met[doc] = true;
        const DocId new_doc = inputs_[input].new_docs[doc];
        if (new_doc == kGoneDoc) continue;
        if (places == nullptr) {
          places = &clusters[{index.lists()[cluster.point.list], cluster.point.place}];
        }
        places->push_back({.doc = new_doc, .input = input, .position = position});
      }
    }
    return arrow::Status::OK();
  }

  std::span<const VectorIndexInput> inputs_;
  std::vector<std::unique_ptr<InputReader>> readers_;
  std::vector<ContentHash> lists_;
  std::vector<VectorCluster> clusters_;
  std::vector<Place> places_;  // by position
};

}  // namespace

arrow::Result<FinishedVectorIndex> MergeVectorIndexes(const VectorSpace& space,
                                                      std::span<const VectorIndexInput> inputs,
                                                      arrow::io::OutputStream& sink,
                                                      const VectorIndexMergeOptions& options) {
  if (inputs.empty()) return Refuse("there is none");
  for (const VectorIndexInput& input : inputs) {
    if (input.index->column() != space.column()) {
      return Refuse(input.index->name() + " is of another column");
    }
  }
  MergedRows rows(inputs, options.read_bytes);
  ARROW_RETURN_NOT_OK(rows.Open());
  return WriteVectorIndex(space, rows, options.superfile, sink);
}

}  // namespace infino::vector
