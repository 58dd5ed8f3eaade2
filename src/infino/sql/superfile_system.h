#pragma once

#include <string>

#include "duckdb/common/file_system.hpp"

namespace infino::sql {

/// DuckDB's way to the bytes of superfiles: through our cache, in whole blocks of the Parquet body
/// and the whole footer, whose checksums it verifies. What lies between them, where no Parquet
/// offset points but reading ahead may reach, is given as zeros. A statement can open just the
/// superfiles that its own scans have registered with its StatementState, under paths that nobody
/// can guess. Thread-safe.
class SuperfileSystem final : public duckdb::FileSystem {
 public:
  /// The folder of all paths: a scheme of our own and a random part, new in every process.
  [[nodiscard]] static const std::string& Folder();

  duckdb::unique_ptr<duckdb::FileHandle> OpenFile(
      const duckdb::string& path, duckdb::FileOpenFlags flags,
      duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  void Read(duckdb::FileHandle& handle, void* buffer, int64_t length,
            duckdb::idx_t offset) override;
  int64_t Read(duckdb::FileHandle& handle, void* buffer, int64_t length) override;
  int64_t GetFileSize(duckdb::FileHandle& handle) override;
  duckdb::timestamp_t GetLastModifiedTime(duckdb::FileHandle& handle) override;
  duckdb::string GetVersionTag(duckdb::FileHandle& handle) override;
  duckdb::FileType GetFileType(duckdb::FileHandle& handle) override;
  bool FileExists(const duckdb::string& path,
                  duckdb::optional_ptr<duckdb::FileOpener> opener) override;
  bool CanHandleFile(const duckdb::string& path) override;
  void Seek(duckdb::FileHandle& handle, duckdb::idx_t offset) override;
  duckdb::idx_t SeekPosition(duckdb::FileHandle& handle) override;

  bool CanSeek() override { return true; }

  bool OnDiskFile(duckdb::FileHandle& handle) override;

  [[nodiscard]] std::string GetName() const override { return "infino"; }
};

}  // namespace infino::sql
