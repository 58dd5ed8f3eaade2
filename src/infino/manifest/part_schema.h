#pragma once

#include <memory>

#include <arrow/type.h>

namespace infino {

/// The columns of a manifest part (docs/format/manifest.md, "Part"), by position. Shared by the
/// part's writer and its reader.
enum PartColumn : int {
  kPartId,
  kPartSizeBytes,
  kPartOpenOffset,
  kPartOpenLength,
  kPartFooterLength,
  kPartFooterChecksum,
  kPartHash,
  kPartRowCount,
  kPartMinId,
  kPartMaxId,
  kPartSchemaId,
  kPartCommit,
  kPartColumns,
  kPartTexts,
  kPartTermFilters,
  kPartValueCounts,
  kPartSummaryHash,
  kPartSummarySize,
  kPartTombstones,
};

inline constexpr int kIdWidth = 16;
inline constexpr int kHashWidth = 32;
inline constexpr int kRowIdDigits = 38;

/// The schema without metadata.
[[nodiscard]] std::shared_ptr<arrow::Schema> PartSchema();

}  // namespace infino
