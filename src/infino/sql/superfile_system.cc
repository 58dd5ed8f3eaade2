#include "infino/sql/superfile_system.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/file_opener.hpp"
#include "duckdb/common/file_system.hpp"
#include "duckdb/common/helper.hpp"
#include "infino/common/byte_range.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/statement_state.h"
#include "infino/superfile/block_checksums.h"
#include "infino/superfile/superfile_format.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_summary.h"

namespace infino::sql {
namespace {

class SuperfileHandle final : public duckdb::FileHandle {
 public:
  SuperfileHandle(duckdb::FileSystem& system, const std::string& full_path,
                  duckdb::FileOpenFlags open_flags, duckdb::ClientContext& context,
                  ScannedFile file)
      : FileHandle(system, full_path, open_flags),
        context_(context),
        file_(std::move(file.reader)),
        footer_(file.footer) {}

  void Close() override {}

  void ReadAt(void* buffer, int64_t length, int64_t offset) const {
    ThrowIfFailed(context_, TryReadAt(static_cast<uint8_t*>(buffer), length, offset));
  }

  [[nodiscard]] int64_t size() const { return file_->file().size(); }

  int64_t position = 0;

 private:
  [[nodiscard]] arrow::Status TryReadAt(uint8_t* to, int64_t length, int64_t offset) const;

  [[nodiscard]] arrow::Status CheckFooter(const arrow::Buffer& bytes) const;

  [[nodiscard]] int64_t footer_offset() const { return size() - footer_.length; }

  duckdb::ClientContext& context_;
  std::shared_ptr<const SuperfileReader> file_;
  const ParquetFooter footer_;
};

/// The blocks of the body that the range touches, as one range a block.
std::vector<ByteRange> BlocksOf(const BlockChecksums& blocks, const ByteRange& range) {
  std::vector<ByteRange> touched;
  const int64_t body_end = blocks.count() == 0 ? 0 : blocks.PlaceOf(blocks.count() - 1).end();
  if (range.offset >= body_end) return touched;
  const int64_t last = (std::min(range.end(), body_end) - 1) / kBodyBlockSize;
  for (int64_t block = range.offset / kBodyBlockSize; block <= last; ++block) {
    touched.push_back(blocks.PlaceOf(block));
  }
  return touched;
}

arrow::Status SuperfileHandle::CheckFooter(const arrow::Buffer& bytes) const {
  if (Crc32c({bytes.data(), static_cast<size_t>(bytes.size())}) == footer_.checksum) {
    return arrow::Status::OK();
  }
  return MakeError(ErrorKind::kCorrupt, file_->name() + ": footer has a wrong checksum, offset=" +
                                            std::to_string(footer_offset()));
}

arrow::Status SuperfileHandle::TryReadAt(uint8_t* to, int64_t length, int64_t offset) const {
  const ByteRange wanted = {.offset = offset, .length = length};
  const BlockChecksums& blocks = file_->block_checksums();
  std::vector<ByteRange> ranges = BlocksOf(blocks, wanted);
  const size_t block_count = ranges.size();
  if (wanted.end() > footer_offset()) {
    ranges.push_back({.offset = footer_offset(), .length = footer_.length});
  }
  Buffers buffers;
  if (auto resident = file_->file().TryRead(ranges)) {
    buffers = *std::move(resident);
  } else {
    ARROW_ASSIGN_OR_RAISE(buffers, Wait(file_->file().Read(ranges), StopOf(context_)));
  }
  if (block_count == 0 || ranges[block_count - 1].end() < wanted.end()) {
    std::memset(to, 0, static_cast<size_t>(length));
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    ARROW_RETURN_NOT_OK(i == block_count ? CheckFooter(*buffers[i])
                                         : blocks.Check(ranges[i].offset / kBodyBlockSize,
                                                        {buffers[i]->data(),
                                                         static_cast<size_t>(buffers[i]->size())},
                                                        file_->name()));
    const int64_t begin = std::max(offset, ranges[i].offset);
    const int64_t end = std::min(wanted.end(), ranges[i].end());
    std::memcpy(to + (begin - offset), buffers[i]->data() + (begin - ranges[i].offset),
                static_cast<size_t>(end - begin));
  }
  return arrow::Status::OK();
}

SuperfileHandle& HandleOf(duckdb::FileHandle& handle) {
  return static_cast<SuperfileHandle&>(handle);
}

std::optional<ScannedFile> Registered(const std::string& path,
                                      duckdb::optional_ptr<duckdb::ClientContext> context) {
  if (!context) return std::nullopt;
  const auto state = context->registered_state->Get<StatementState>(StatementState::kKey);
  if (state == nullptr) return std::nullopt;
  return state->FindFile(path);
}

}  // namespace

const std::string& SuperfileSystem::Folder() {
  static const std::string folder =
      "infino://" + Random::FromSystem()->NextId<SuperfileId>().ToHex() + "/";
  return folder;
}

duckdb::unique_ptr<duckdb::FileHandle> SuperfileSystem::OpenFile(
    const duckdb::string& path, duckdb::FileOpenFlags flags,
    duckdb::optional_ptr<duckdb::FileOpener> opener) {
  auto context = duckdb::FileOpener::TryGetClientContext(opener);
  std::optional<ScannedFile> file = Registered(path, context);
  if (!file || flags.OpenForWriting()) {
    throw duckdb::PermissionException("SQL reads the tables of its connection and no files");
  }
  duckdb::ClientContext& running = *context;
  return duckdb::make_uniq<SuperfileHandle>(*this, path, flags, running, *std::move(file));
}

void SuperfileSystem::Read(duckdb::FileHandle& handle, void* buffer, int64_t length,
                           duckdb::idx_t offset) {
  HandleOf(handle).ReadAt(buffer, length, static_cast<int64_t>(offset));
}

int64_t SuperfileSystem::Read(duckdb::FileHandle& handle, void* buffer, int64_t length) {
  SuperfileHandle& file = HandleOf(handle);
  const int64_t count = std::min(length, file.size() - file.position);
  if (count <= 0) return 0;
  file.ReadAt(buffer, count, file.position);
  file.position += count;
  return count;
}

int64_t SuperfileSystem::GetFileSize(duckdb::FileHandle& handle) {
  return HandleOf(handle).size();
}

/// Superfiles never change.
duckdb::timestamp_t SuperfileSystem::GetLastModifiedTime(duckdb::FileHandle& /*handle*/) {
  return duckdb::timestamp_t(1);
}

duckdb::string SuperfileSystem::GetVersionTag(duckdb::FileHandle& /*handle*/) {
  return "1";
}

duckdb::FileType SuperfileSystem::GetFileType(duckdb::FileHandle& /*handle*/) {
  return duckdb::FileType::FILE_TYPE_REGULAR;
}

bool SuperfileSystem::FileExists(const duckdb::string& path,
                                 duckdb::optional_ptr<duckdb::FileOpener> opener) {
  return Registered(path, duckdb::FileOpener::TryGetClientContext(opener)).has_value();
}

bool SuperfileSystem::CanHandleFile(const duckdb::string& path) {
  return path.starts_with("infino://");
}

void SuperfileSystem::Seek(duckdb::FileHandle& handle, duckdb::idx_t offset) {
  HandleOf(handle).position = static_cast<int64_t>(offset);
}

duckdb::idx_t SuperfileSystem::SeekPosition(duckdb::FileHandle& handle) {
  return static_cast<uint64_t>(HandleOf(handle).position);
}

/// DuckDB then reads column by column ahead, in long stretches.
bool SuperfileSystem::OnDiskFile(duckdb::FileHandle& /*handle*/) {
  return false;
}

}  // namespace infino::sql
