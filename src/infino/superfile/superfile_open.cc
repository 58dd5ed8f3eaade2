#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/superfile/parquet_guard.h"
#include "infino/superfile/range_file.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

class RangeFile final : public arrow::io::RandomAccessFile {
 public:
  explicit RangeFile(const RangeReader& file) : file_(&file) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }

  [[nodiscard]] bool closed() const override { return closed_; }

  [[nodiscard]] arrow::Result<int64_t> Tell() const override { return position_; }

  arrow::Status Seek(int64_t position) override {
    position_ = position;
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> GetSize() override { return file_->size(); }

  arrow::Result<int64_t> Read(int64_t length, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, length, out));
    position_ += read;
    return read;
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t length) override {
    ARROW_ASSIGN_OR_RAISE(auto bytes, ReadAt(position_, length));
    position_ += bytes->size();
    return bytes;
  }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t length, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadAt(position, length));
    std::copy(bytes->data(), bytes->data() + bytes->size(), static_cast<uint8_t*>(out));
    return bytes->size();
  }

  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t length) override {
    if (position < 0 || length < 0 || position > file_->size()) {
      return arrow::Status::Invalid("read outside of the file, offset=", position);
    }
    const ByteRange range{.offset = position, .length = std::min(length, file_->size() - position)};
    ARROW_ASSIGN_OR_RAISE(const Buffers bytes, Wait(file_->Read({range})));
    return bytes.front();
  }

 private:
  const RangeReader* file_;
  int64_t position_ = 0;
  bool closed_ = false;
};

/// Reads the keys of the footer.
class FooterKeys {
 public:
  FooterKeys(std::shared_ptr<const arrow::KeyValueMetadata> keys, std::string name)
      : keys_(std::move(keys)), name_(std::move(name)) {}

  [[nodiscard]] arrow::Result<std::string> Text(std::string_view key) const {
    if (keys_ != nullptr) {
      auto value = keys_->Get(key);
      if (value.ok()) return value;
    }
    return Corrupt(key, "is missing");
  }

  [[nodiscard]] arrow::Result<int64_t> Number(std::string_view key) const {
    ARROW_ASSIGN_OR_RAISE(const std::string text, Text(key));
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || parsed != end || number < 0) return Corrupt(key, "is no number");
    return number;
  }

  [[nodiscard]] arrow::Status Corrupt(std::string_view key, std::string_view what) const {
    return MakeError(ErrorKind::kCorrupt,
                     name_ + ": footer key " + std::string(key) + " " + std::string(what));
  }

 private:
  std::shared_ptr<const arrow::KeyValueMetadata> keys_;
  std::string name_;
};

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> ToRandomAccessFile(const RangeReader& file) {
  return std::make_shared<RangeFile>(file);
}

arrow::Result<OpenSectionPlace> FindOpenSection(const RangeReader& file, const std::string& name) {
  std::shared_ptr<parquet::FileMetaData> metadata;
  const arrow::Status read = GuardParquet([&] {
    metadata = parquet::ReadMetaData(ToRandomAccessFile(file));
    return arrow::Status::OK();
  });
  ARROW_RETURN_NOT_OK(CorruptParquet(read, name));
  const FooterKeys keys(metadata->key_value_metadata(), name);
  ARROW_ASSIGN_OR_RAISE(const std::string format, keys.Text(footer_key::kFormat));
  if (format != kFormatName) return keys.Corrupt(footer_key::kFormat, "names another format");
  ARROW_ASSIGN_OR_RAISE(const int64_t version, keys.Number(footer_key::kFormatVersion));
  if (version != kSuperfileFormatVersion) {
    return MakeError(
        ErrorKind::kUnsupportedVersion,
        name + ": superfile format version " + std::to_string(version) +
            " is not known to this library, known=" + std::to_string(kSuperfileFormatVersion));
  }
  OpenSectionPlace result;
  ARROW_ASSIGN_OR_RAISE(const std::string id, keys.Text(footer_key::kId));
  ARROW_ASSIGN_OR_RAISE(result.id, SuperfileId::FromHex(id));
  ARROW_ASSIGN_OR_RAISE(result.place.offset, keys.Number(footer_key::kOpenOffset));
  ARROW_ASSIGN_OR_RAISE(result.place.length, keys.Number(footer_key::kOpenLength));
  if (result.place.offset > file.size() ||
      result.place.length > file.size() - result.place.offset) {
    return keys.Corrupt(footer_key::kOpenOffset, "points outside of the file");
  }
  return result;
}

}  // namespace infino
