#include "infino/superfile/page_walk.h"

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
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/error.h"
#include "infino/superfile/parquet_guard.h"
#include "infino/superfile/row_fetch_map.h"

namespace infino {
namespace {

/// Bytes in memory, read from the front; it remembers where it was last looked ahead, which is
/// where the page header of a page reader starts.
class WalkedStream final : public arrow::io::InputStream {
 public:
  WalkedStream(std::shared_ptr<arrow::Buffer> bytes, int64_t position)
      : bytes_(std::move(bytes)), position_(position), end_(bytes_->size()) {}

  arrow::Status Close() override { return arrow::Status::OK(); }

  [[nodiscard]] bool closed() const override { return false; }

  [[nodiscard]] arrow::Result<int64_t> Tell() const override { return position_; }

  arrow::Result<int64_t> Read(int64_t length, void* out) override {
    const int64_t taken = std::min(length, end_ - position_);
    const uint8_t* from = bytes_->data() + position_;
    std::copy(from, from + taken, static_cast<uint8_t*>(out));
    position_ += taken;
    return taken;
  }

  /// Also how the page reader passes over bytes.
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t length) override {
    const int64_t start = position_;
    position_ += std::min(length, end_ - position_);
    if (ends_after_read_) end_ = position_;
    return arrow::SliceBuffer(bytes_, start, position_ - start);
  }

  arrow::Result<std::string_view> Peek(int64_t length) override {
    peeked_at_ = position_;
    const std::string_view all(*bytes_);
    return all.substr(static_cast<size_t>(position_),
                      static_cast<size_t>(std::min(length, end_ - position_)));
  }

  /// The stream ends behind what is read next.
  void EndAfterRead() { ends_after_read_ = true; }

  [[nodiscard]] int64_t position() const { return position_; }

  [[nodiscard]] int64_t peeked_at() const { return peeked_at_; }

 private:
  std::shared_ptr<arrow::Buffer> bytes_;
  int64_t position_;
  int64_t peeked_at_ = 0;
  int64_t end_;
  bool ends_after_read_ = false;
};

uint32_t ChecksumOf(const arrow::Buffer& group, int64_t offset, int64_t length) {
  return Crc32c(ByteSpan(group.data() + offset, static_cast<size_t>(length)));
}

/// Places are in the row group before, in the file afterwards.
void SetLengthsAndChecksums(const WrittenRowGroup& group, int64_t end, ChunkPages& chunk) {
  if (chunk.dictionary.length > 0) {
    chunk.dictionary_checksum =
        ChecksumOf(*group.bytes, chunk.dictionary.offset, chunk.dictionary.length);
    chunk.dictionary.offset += group.offset;
  }
  for (size_t i = 0; i < chunk.pages.size(); ++i) {
    PagePlace& page = chunk.pages[i];
    const int64_t page_end = i + 1 < chunk.pages.size() ? chunk.pages[i + 1].offset : end;
    page.length = static_cast<int32_t>(page_end - page.offset);
    page.checksum = ChecksumOf(*group.bytes, page.offset, page.length);
    page.offset += group.offset;
  }
}

/// The pages of the column chunk that starts at `start`, which is moved behind it. The page filter
/// sees every data page's header and has the page passed over.
arrow::Result<ChunkPages> WalkChunk(const WrittenRowGroup& group,
                                    const parquet::ColumnDescriptor& column, int64_t& start) {
  auto stream = std::make_shared<WalkedStream>(group.bytes, start);
  auto pages = parquet::PageReader::Open(stream, std::numeric_limits<int64_t>::max(), group.codec,
                                         parquet::ReaderProperties(), column);
  ChunkPages chunk;
  int64_t rows = 0;
  bool rows_known = true;
  pages->set_data_page_filter([&](const parquet::DataPageStats& page) {
    chunk.pages.push_back(
        {.offset = stream->peeked_at(), .first_row = static_cast<uint32_t>(rows)});
    rows_known = rows_known && page.num_rows.value_or(0) > 0;
    rows += page.num_rows.value_or(0);
    if (rows >= group.row_count) stream->EndAfterRead();
    return true;
  });
  while (const std::shared_ptr<parquet::Page> page = pages->NextPage()) {
    if (page->type() != parquet::PageType::DICTIONARY_PAGE || !chunk.pages.empty()) break;
    chunk.dictionary = {.offset = start, .length = stream->position() - start};
  }
  if (!rows_known || rows != group.row_count) {
    return MakeError(ErrorKind::kInternal, "find the pages of a superfile: column " +
                                               column.path()->ToDotString() +
                                               " has rows=" + std::to_string(rows) +
                                               ", expected=" + std::to_string(group.row_count));
  }
  start = stream->position();
  SetLengthsAndChecksums(group, start, chunk);
  return chunk;
}

}  // namespace

arrow::Result<std::vector<ChunkPages>> WalkPages(const WrittenRowGroup& group,
                                                 const parquet::SchemaDescriptor& schema,
                                                 int skipped_leaves) {
  return GuardParquet([&]() -> arrow::Result<std::vector<ChunkPages>> {
    std::vector<ChunkPages> leaves;
    int64_t position = 0;
    for (int leaf = 0; leaf < schema.num_columns(); ++leaf) {
      ARROW_ASSIGN_OR_RAISE(ChunkPages chunk, WalkChunk(group, *schema.Column(leaf), position));
      if (leaf >= skipped_leaves) leaves.push_back(std::move(chunk));
    }
    if (position != group.bytes->size()) {
      return MakeError(ErrorKind::kInternal, "find the pages of a superfile: bytes left over");
    }
    return leaves;
  });
}

}  // namespace infino
