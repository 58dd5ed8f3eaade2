#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {

/// Rows of a file that have one reference point. They stand together, in ascending order.
struct VectorCluster {
  PointRef point;  ///< The list is one of the reader's.
  uint32_t begin = 0;
  uint32_t end = 0;  ///< Positions [begin, end).

  [[nodiscard]] uint32_t size() const { return end - begin; }
};

/// Which fractions of a file's rows, in clusters from the nearest on, hold what share of the ten
/// nearest rows; by kCurveRecalls.
using RecallCurve = std::array<double, kCurvePoints>;

/// Where the parts of the blob are, relative to its start.
struct VectorBlobSections {
  ByteRange docs;
  ByteRange codes;
  ByteRange rows;  ///< Empty with the tier kNone.

  friend bool operator==(const VectorBlobSections&, const VectorBlobSections&) = default;
};

/// The open part of a vector index: what is known of it without reading its blob. Parsed once,
/// immutable, shared by any number of searches and threads.
///
/// A *position* is a row's place in the blob's sections: rows are ordered by cluster.
class VectorIndexReader {
  struct Private {
    explicit Private() = default;
  };

 public:
  /// `blob_length` is the length of the blob that belongs to it, and `name` what errors call the
  /// index, as in "vector index 'embedding' of superfile 3f2a". kCorrupt for anything that breaks
  /// the format, kUnsupportedVersion for a newer one.
  [[nodiscard]] static arrow::Result<std::shared_ptr<const VectorIndexReader>> Open(
      const std::shared_ptr<arrow::Buffer>& open_part, int64_t blob_length, std::string name);

  /// For Open.
  VectorIndexReader(Private tag, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Tells readers of this process apart, also those that are gone.
  [[nodiscard]] uint64_t uid() const { return uid_; }

  [[nodiscard]] const VectorColumn& column() const { return column_; }

  [[nodiscard]] uint32_t row_count() const { return row_count_; }

  /// The lists of reference points that its codes name, in ascending order of ids.
  [[nodiscard]] std::span<const ContentHash> lists() const { return lists_; }

  /// In ascending order of points, none empty.
  [[nodiscard]] std::span<const VectorCluster> clusters() const { return clusters_; }

  [[nodiscard]] const RecallCurve& curve() const { return curve_; }

  [[nodiscard]] const VectorBlobSections& sections() const { return sections_; }

  /// The bits of a document in the first section.
  [[nodiscard]] uint32_t doc_width() const { return doc_width_; }

  [[nodiscard]] size_t row_bytes() const { return row_bytes_; }

  /// A block of codes with its checksum.
  [[nodiscard]] size_t block_bytes() const { return block_bytes_; }

  [[nodiscard]] uint32_t block_count() const;

  /// A chunk of documents with its checksum.
  [[nodiscard]] ByteRange DocChunk(uint32_t chunk) const;

  [[nodiscard]] uint32_t doc_chunk_count() const;

  /// How many documents the chunk has.
  [[nodiscard]] uint32_t DocChunkSize(uint32_t chunk) const;

  /// Blocks [begin, end).
  [[nodiscard]] ByteRange Blocks(uint32_t begin, uint32_t end) const;

  /// The rows at positions [begin, end).
  [[nodiscard]] ByteRange Rows(uint32_t begin, uint32_t end) const;

  /// About what the reader holds in memory, in bytes.
  [[nodiscard]] int64_t memory_bytes() const;

  [[nodiscard]] arrow::Status Corrupt(const std::string& what) const;

 private:
  [[nodiscard]] arrow::Status Parse(ByteSpan all, int64_t blob_length);
  [[nodiscard]] arrow::Status ParseColumn(ByteReader& in);
  [[nodiscard]] arrow::Status ParseLists(ByteReader& in);
  [[nodiscard]] arrow::Status ParseClusters(ByteReader& in);
  [[nodiscard]] arrow::Status ParseCurve(ByteReader& in);
  void LaySections();

  uint64_t uid_;
  std::string name_;
  VectorColumn column_;
  uint32_t row_count_ = 0;
  uint32_t doc_width_ = 0;
  size_t row_bytes_ = 0;
  size_t block_bytes_ = 0;
  std::vector<ContentHash> lists_;
  std::vector<VectorCluster> clusters_;
  RecallCurve curve_{};
  VectorBlobSections sections_;
};

/// The parts of a vector index of those rows. The first starts behind the head.
[[nodiscard]] VectorBlobSections SectionsOf(const VectorColumn& column, int64_t row_count);

/// The bits that a document of so many takes.
[[nodiscard]] uint32_t DocWidthOf(int64_t row_count);

/// A block of codes with its checksum, in bytes.
[[nodiscard]] size_t BlockBytesOf(const VectorColumn& column);

/// Whether the last four of `bytes` are the checksum of the others. Every checksum is one where a
/// fuzzer is to get past them.
[[nodiscard]] bool EndsWithChecksum(ByteSpan bytes);

}  // namespace infino::vector
