#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_index_writer.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// Reads a range of an index's blob, exactly as long as asked for. May block.
using BlobRead = std::function<arrow::Result<std::shared_ptr<arrow::Buffer>>(ByteRange range)>;

/// Where a document of an input goes that the result does not have.
inline constexpr DocId kGoneDoc = std::numeric_limits<DocId>::max();

/// A finished index that is to become part of another one.
struct VectorIndexInput {
  std::shared_ptr<const VectorIndexReader> index;
  BlobRead read;

  /// For each document of the input its number in the result, or kGoneDoc; those that stay ascend.
  std::span<const DocId> new_docs;
};

struct VectorIndexMergeOptions {
  SuperfileId superfile = {};  ///< Of the result.

  /// How much is read of an input at a time. Two such reads are held for each input.
  int64_t read_bytes = int64_t{1} << 20;
};

/// Makes one index of several: codes and rows move bit for bit. Every document of the result comes
/// from one document of one input, in any interleaving of the inputs.
///
/// The bytes are those that VectorIndexBuilder writes when it is given the vectors of the surviving
/// documents in their new order, in a space that has just the reference points that the inputs'
/// codes name. Memory: 16 bytes a row, and two reads for each input.
///
/// kInvalidArgument if there is no input, if one is not of the space's column or has a list that
/// the space lacks, or if `new_docs` does not number the result's documents. kCorrupt, naming the
/// input, for bytes that break the format. Blocks as `read` does.
[[nodiscard]] arrow::Result<FinishedVectorIndex> MergeVectorIndexes(
    const VectorSpace& space, std::span<const VectorIndexInput> inputs,
    arrow::io::OutputStream& sink, const VectorIndexMergeOptions& options);

}  // namespace infino::vector
