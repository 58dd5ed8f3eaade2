#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index/vector/vector_index_writer.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// How a builder is kept from holding more than it may.
struct VectorBuildMemory {
  /// A builder that holds more puts it into a scratch file, between two rows. To read that back
  /// takes some MiB. 0: it never does.
  int64_t limit_bytes = 0;

  /// Null if there is no limit.
  std::shared_ptr<ScratchSpace> scratch = {};
};

/// Builds the vector index of one column of one superfile. The bytes are
/// docs/format/vector-index.md; equal rows in an equal space give equal bytes, on every machine
/// and whatever the memory. A vector is encoded when it comes, and not held beside that.
///
/// Rows come in order, once each. Single-threaded; superfiles are what runs in parallel. After a
/// failure the builder is of no further use, except that a refused array leaves it as it was.
class VectorIndexBuilder {
  class Impl;

 public:
  /// `superfile` is written into the blob's head. The space has the lists of reference points that
  /// new codes may be made with.
  [[nodiscard]] static std::unique_ptr<VectorIndexBuilder> Make(
      std::shared_ptr<const VectorSpace> space, const SuperfileId& superfile,
      VectorBuildMemory memory = {});

  VectorIndexBuilder(const VectorIndexBuilder&) = delete;
  VectorIndexBuilder& operator=(const VectorIndexBuilder&) = delete;
  ~VectorIndexBuilder();

  /// Adds the next rows: a fixed-size list of floats of the column's dimension. kInvalidArgument,
  /// naming the row of the array, for another type, a null, a null number, NaN and infinity: then
  /// none of the array's rows is added. kResourceExhausted beyond 2^31 - 1 rows. Fails as the
  /// scratch space does.
  [[nodiscard]] arrow::Status Add(const arrow::Array& column);

  /// What is held in memory by now, in bytes.
  [[nodiscard]] int64_t memory_bytes() const;

  /// What was put into scratch files by now, which is about what it adds to the blob, in bytes.
  [[nodiscard]] int64_t spilled_bytes() const;

  [[nodiscard]] int64_t row_count() const;

  /// Writes the blob at the sink's position. Called once, last.
  [[nodiscard]] arrow::Result<FinishedVectorIndex> Finish(arrow::io::OutputStream& sink);

  /// For Make, which alone can name an Impl.
  explicit VectorIndexBuilder(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace infino::vector
