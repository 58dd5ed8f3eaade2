#include "infino/superfile/page_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/io/interfaces.h>
#include <arrow/ipc/writer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include "infino/error.h"
#include "infino/superfile/parquet_guard.h"

namespace infino {
namespace {

/// Pages as one stream, without copying them together. A look ahead ends with its page.
class PagesStream final : public arrow::io::InputStream {
 public:
  explicit PagesStream(LeafPages pages) : pages_(std::move(pages)) {}

  arrow::Status Close() override { return arrow::Status::OK(); }

  [[nodiscard]] bool closed() const override { return false; }

  [[nodiscard]] arrow::Result<int64_t> Tell() const override { return told_; }

  arrow::Result<int64_t> Read(int64_t length, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bytes, Read(length));
    std::copy(bytes->data(), bytes->data() + bytes->size(), static_cast<uint8_t*>(out));
    return bytes->size();
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t length) override {
    SkipFinishedPages();
    if (page_ == pages_.size()) return std::make_shared<arrow::Buffer>(nullptr, 0);
    const int64_t taken = std::min(length, pages_[page_]->size() - position_);
    auto bytes = arrow::SliceBuffer(pages_[page_], position_, taken);
    position_ += taken;
    told_ += taken;
    return bytes;
  }

  arrow::Result<std::string_view> Peek(int64_t length) override {
    SkipFinishedPages();
    if (page_ == pages_.size()) return std::string_view();
    const std::string_view page(*pages_[page_]);
    return page.substr(static_cast<size_t>(position_), static_cast<size_t>(length));
  }

 private:
  void SkipFinishedPages() {
    while (page_ < pages_.size() && position_ == pages_[page_]->size()) {
      ++page_;
      position_ = 0;
    }
  }

  LeafPages pages_;
  size_t page_ = 0;
  int64_t position_ = 0;  // in the page
  int64_t told_ = 0;
};

/// What the reader of the file that isn't there hands out: the pages of one row group.
struct PageFeed {
  std::shared_ptr<parquet::FileMetaData> metadata;
  std::unique_ptr<parquet::RowGroupMetaData> row_group;
  parquet::ReaderProperties properties;
  parquet::Compression::type codec = parquet::Compression::UNCOMPRESSED;
  std::vector<LeafPages> leaves;
};

class FedRowGroup final : public parquet::RowGroupReader::Contents {
 public:
  explicit FedRowGroup(PageFeed* feed) : feed_(feed) {}

  std::unique_ptr<parquet::PageReader> GetColumnPageReader(int leaf) override {
    auto stream =
        std::make_shared<PagesStream>(std::move(feed_->leaves[static_cast<size_t>(leaf)]));
    return parquet::PageReader::Open(std::move(stream), std::numeric_limits<int64_t>::max(),
                                     feed_->codec, feed_->properties,
                                     *feed_->metadata->schema()->Column(leaf));
  }

  [[nodiscard]] const parquet::RowGroupMetaData* metadata() const override {
    return feed_->row_group.get();
  }

  [[nodiscard]] const parquet::ReaderProperties* properties() const override {
    return &feed_->properties;
  }

 private:
  PageFeed* feed_;
};

class FedFile final : public parquet::ParquetFileReader::Contents {
 public:
  explicit FedFile(PageFeed* feed) : feed_(feed) {}

  void Close() override {}

  std::shared_ptr<parquet::RowGroupReader> GetRowGroup(int /*i*/) override {
    return std::make_shared<parquet::RowGroupReader>(std::make_unique<FedRowGroup>(feed_));
  }

  [[nodiscard]] std::shared_ptr<parquet::FileMetaData> metadata() const override {
    return feed_->metadata;
  }

  std::shared_ptr<parquet::PageIndexReader> GetPageIndexReader() override { return nullptr; }

  parquet::BloomFilterReader& GetBloomFilterReader() override {
    throw parquet::ParquetException("pages without a file have no Bloom filter");
  }

 private:
  PageFeed* feed_;
};

/// The metadata of a file with that one column and one row group. Its counts say nothing: pages
/// are read until their stream ends.
arrow::Result<std::shared_ptr<parquet::FileMetaData>> MakeMetadata(
    const std::shared_ptr<arrow::Field>& field, parquet::Compression::type codec) {
  const auto schema = arrow::schema({field});
  const auto properties = parquet::WriterProperties::Builder().compression(codec)->build();
  std::shared_ptr<parquet::SchemaDescriptor> descriptor;
  ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(schema.get(), *properties, &descriptor));
  auto builder = parquet::FileMetaDataBuilder::Make(descriptor.get(), properties);
  parquet::RowGroupMetaDataBuilder* row_group = builder->AppendRowGroup();
  for (int leaf = 0; leaf < descriptor->num_columns(); ++leaf) {
    row_group->NextColumnChunk()->Finish(
        /*num_values=*/1, /*dictionary_page_offset=*/0, /*index_page_offset=*/0,
        /*data_page_offset=*/4, /*compressed_size=*/1, /*uncompressed_size=*/1,
        /*has_dictionary=*/false, /*dictionary_fallback=*/false,
        /*dict_encoding_stats_=*/{}, /*data_encoding_stats_=*/{});
  }
  row_group->set_num_rows(1);
  row_group->Finish(/*total_bytes_written=*/1);
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> serialized,
                        arrow::ipc::SerializeSchema(*schema));
  return builder->Finish(arrow::key_value_metadata(
      {"ARROW:schema"}, {arrow::util::base64_encode(std::string_view(*serialized))}));
}

class FedDecoder final : public PageDecoder {
 public:
  FedDecoder(std::shared_ptr<parquet::FileMetaData> metadata, parquet::Compression::type codec,
             std::string object)
      : object_(std::move(object)) {
    feed_.metadata = std::move(metadata);
    feed_.row_group = feed_.metadata->RowGroup(0);
    feed_.codec = codec;
  }

  arrow::Status Open() {
    auto file = std::make_unique<parquet::ParquetFileReader>();
    file->Open(std::make_unique<FedFile>(&feed_));
    ARROW_ASSIGN_OR_RAISE(
        reader_, parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(file)));
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::ChunkedArray>> Decode(std::vector<LeafPages> leaves,
                                                             int64_t row_count) override {
    feed_.leaves = std::move(leaves);
    std::shared_ptr<arrow::ChunkedArray> rows;
    const arrow::Status status = GuardParquet([&]() -> arrow::Status {
      std::unique_ptr<parquet::arrow::ColumnReader> column;
      ARROW_RETURN_NOT_OK(reader_->GetColumn(0, &column));
      return column->NextBatch(row_count, &rows);
    });
    feed_.leaves.clear();
    ARROW_RETURN_NOT_OK(CorruptParquet(status, object_));
    if (rows == nullptr || rows->length() != row_count) {
      return MakeError(ErrorKind::kCorrupt, object_ + ": pages do not hold the rows they should");
    }
    return rows;
  }

 private:
  std::string object_;
  PageFeed feed_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
};

}  // namespace

arrow::Result<std::unique_ptr<PageDecoder>> PageDecoder::Make(
    const std::shared_ptr<arrow::Field>& field, parquet::Compression::type codec,
    std::string object) {
  return GuardParquet([&]() -> arrow::Result<std::unique_ptr<PageDecoder>> {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<parquet::FileMetaData> metadata,
                          MakeMetadata(field, codec));
    auto decoder = std::make_unique<FedDecoder>(std::move(metadata), codec, std::move(object));
    ARROW_RETURN_NOT_OK(decoder->Open());
    return decoder;
  });
}

}  // namespace infino
