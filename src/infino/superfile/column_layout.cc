#include "infino/superfile/column_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <parquet/properties.h>
#include <parquet/schema.h>
#include <parquet/types.h>

#include "infino/error.h"
#include "infino/options.h"
#include "infino/superfile/leaf_columns.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_format.h"

namespace infino {
namespace {

constexpr int64_t kSampleRows = 4096;
constexpr int64_t kSampleRowsMin = 16;

/// A row fetch reads the whole dictionary page with its first page.
constexpr int64_t kDictionaryPageMax = int64_t{32} << 10;

/// A dictionary pays if a value comes at least this often on average.
constexpr int64_t kRepeatsMin = 4;

/// Arrow ends a page only every so many values: a few times a page, lest pages become much longer
/// than meant.
constexpr int64_t kBatchesPerPage = 4;
constexpr int64_t kWriteBatchMax = 256;

/// Page bounds longer than this are left out: those of long text help nobody.
constexpr size_t kPageBoundsMax = 64;

bool MayRepeat(arrow::Type::type type) {
  switch (type) {
    case arrow::Type::NA:
    case arrow::Type::BOOL:
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
      return false;
    default:
      return true;
  }
}

int64_t BytesOf(const arrow::Array& array) {
  return arrow::util::ReferencedBufferSize(array).ValueOr(0);
}

bool WantsDictionary(const arrow::Array& leaf) {
  if (leaf.type_id() == arrow::Type::DICTIONARY) return true;
  if (leaf.length() < kSampleRowsMin || !MayRepeat(leaf.type_id())) return false;
  const auto distinct = arrow::compute::Unique(arrow::Datum(leaf.data()));
  if (!distinct.ok()) return false;  // Not a type that Arrow can hash: plain it is.
  return (*distinct)->length() * kRepeatsMin <= leaf.length() &&
         BytesOf(**distinct) <= kDictionaryPageMax;
}

/// How a leaf without a dictionary is encoded: numbers as differences, and lengths apart from the
/// bytes they belong to. Both take less than plain values, and compression has less to do.
parquet::Encoding::type EncodingOf(const arrow::Array& leaf,
                                   const parquet::ColumnDescriptor& column) {
  if (leaf.type_id() == arrow::Type::NA) return parquet::Encoding::PLAIN;
  switch (column.physical_type()) {
    case parquet::Type::INT32:
    case parquet::Type::INT64:
      return parquet::Encoding::DELTA_BINARY_PACKED;
    case parquet::Type::BYTE_ARRAY:
      return parquet::Encoding::DELTA_LENGTH_BYTE_ARRAY;
    case parquet::Type::BOOLEAN:
      return parquet::Encoding::RLE;
    default:
      return parquet::Encoding::PLAIN;
  }
}

/// The first rows of every leaf.
arrow::Result<std::vector<std::shared_ptr<arrow::Array>>> SampleLeaves(const arrow::Table& sample) {
  std::vector<std::shared_ptr<arrow::Array>> leaves;
  for (const auto& column : sample.columns()) {
    const auto rows = column->Slice(0, kSampleRows);
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> joined,
                          arrow::Concatenate(rows->chunks()));
    AppendLeaves(joined, leaves);
  }
  return leaves;
}

}  // namespace

arrow::Result<std::shared_ptr<parquet::WriterProperties>> ChooseLayout(
    const arrow::Table& sample, const parquet::SchemaDescriptor& schema, Compression compression) {
  ARROW_ASSIGN_OR_RAISE(const auto leaves, SampleLeaves(sample));
  if (leaves.size() != static_cast<size_t>(schema.num_columns())) {
    return MakeError(ErrorKind::kInternal, "lay out a superfile: Parquet has columns=" +
                                               std::to_string(schema.num_columns()) +
                                               ", expected=" + std::to_string(leaves.size()));
  }
  parquet::WriterProperties::Builder builder;
  int64_t widest_value = 1;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const arrow::Array& leaf = *leaves[i];
    const parquet::ColumnDescriptor& column = *schema.Column(static_cast<int>(i));
    const std::string path = column.path()->ToDotString();
    const bool dictionary = i != 0 && WantsDictionary(leaf);
    if (dictionary) {
      builder.enable_dictionary(path);
    } else {
      builder.disable_dictionary(path)->encoding(path, EncodingOf(leaf, column));
      widest_value = std::max(widest_value, BytesOf(leaf) / std::max<int64_t>(leaf.length(), 1));
    }
  }
  builder.version(parquet::ParquetVersion::PARQUET_2_6)
      ->data_page_version(parquet::ParquetDataPageVersion::V2)
      ->compression(ToParquet(compression))
      ->dictionary_pagesize_limit(kDictionaryPageMax)
      ->data_pagesize(kDataPageSize)
      ->max_rows_per_page(kPageRowsMax)
      ->max_row_group_length(kRowGroupRowsMax * 2)
      ->write_batch_size(
          std::clamp<int64_t>(kDataPageSize / kBatchesPerPage / widest_value, 1, kWriteBatchMax))
      ->max_statistics_size(kPageBoundsMax)
      ->set_size_statistics_level(parquet::SizeStatisticsLevel::None)
      ->enable_page_checksum()
      ->enable_write_page_index();
  if (compression == Compression::kZstd) builder.compression_level(1);
  return builder.build();
}

}  // namespace infino
