#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/chunked_array.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/types.h>

namespace infino {

/// The pages of one leaf, dictionary first if there is one.
using LeafPages = std::vector<std::shared_ptr<arrow::Buffer>>;

/// Decodes pages of one column that came without file around them, of any Arrow type. Single-
/// threaded.
class PageDecoder {
 public:
  /// `field` as in the file schema; `object` is named in errors.
  [[nodiscard]] static arrow::Result<std::unique_ptr<PageDecoder>> Make(
      const std::shared_ptr<arrow::Field>& field, parquet::Compression::type codec,
      std::string object);

  virtual ~PageDecoder() = default;

  /// The rows in `leaves`, one list per leaf column, all of them covering the same `row_count` rows
  /// of one row group. Typed as Parquet restores it, which may differ from `field` in the details
  /// that Conform settles.
  [[nodiscard]] virtual arrow::Result<std::shared_ptr<arrow::ChunkedArray>> Decode(
      std::vector<LeafPages> leaves, int64_t row_count) = 0;
};

}  // namespace infino
