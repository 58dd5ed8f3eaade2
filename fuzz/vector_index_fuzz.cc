#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/doc_filter.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_fetch.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_search.h"
#include "infino/index/vector/vector_space.h"
#include "infino/index/vector/verify_vector_index.h"

// Two bytes that are the length of an open part, the open part, the blob: opened, searched, read
// back and verified, whatever the bytes are. The lists of points are those of the document's
// example.

namespace infino::vector {
namespace {

std::shared_ptr<const VectorSpace> SpaceOf(const VectorColumn& column) {
  std::vector<float> points(size_t{2} * column.dimension);
  for (size_t i = 0; i < column.dimension; ++i) points[i] = 8;
  auto list = PointList::Make(column.dimension, std::move(points));
  if (!list.ok()) return nullptr;
  auto space = VectorSpace::Make(column, {*list});
  return space.ok() ? *space : nullptr;
}

template <typename Search>
arrow::Status Drive(Search& search, ByteSpan blob) {
  for (int round = 0; round < 3; ++round) {
    if constexpr (requires { search.Resume(); }) ARROW_RETURN_NOT_OK(search.Resume());
    const std::vector<ByteRange> ranges = search.NextReads();
    if (ranges.empty()) return arrow::Status::OK();
    Buffers bytes;
    for (const ByteRange& range : ranges) {
      // Every range must lie in the blob whose length the reader was told.
      if (range.offset < 0 || range.length < 0 || range.end() > static_cast<int64_t>(blob.size())) {
        std::abort();
      }
      const auto part =
          blob.subspan(static_cast<size_t>(range.offset), static_cast<size_t>(range.length));
      bytes.push_back(ToBuffer({part.begin(), part.end()}));
    }
    ARROW_RETURN_NOT_OK(search.Feed(std::move(bytes)));
  }
  std::abort();  // more rounds than a search may take
}

arrow::Status Search(const VectorIndexReader& index, const VectorSpace& space, ByteSpan blob) {
  const std::vector<float> vector(index.column().dimension, 0.5F);
  ARROW_ASSIGN_OR_RAISE(const PreparedQuery query, PreparedQuery::Make(space, vector, 2));
  DocFilter filter(index.row_count());
  filter.Exclude(1);
  for (const uint64_t few : {uint64_t{0}, uint64_t{1000}}) {
    for (const DocFilter* const passing :
         {static_cast<const DocFilter*>(nullptr), static_cast<const DocFilter*>(&filter)}) {
      ARROW_ASSIGN_OR_RAISE(const auto search,
                            VectorSearch::Make(index, space, std::span(&query, 1), passing,
                                               {.k = 3, .few_rows_max = few}));
      ARROW_RETURN_NOT_OK(Drive(*search, blob));
      if (search->TopDocs(0).size() > 3) std::abort();
    }
  }
  return arrow::Status::OK();
}

arrow::Status Run(ByteSpan open_part, ByteSpan blob) {
  ARROW_ASSIGN_OR_RAISE(const auto index,
                        VectorIndexReader::Open(ToBuffer({open_part.begin(), open_part.end()}),
                                                static_cast<int64_t>(blob.size()), "fuzzed"));
  const BufferRangeReader whole(ToBuffer({blob.begin(), blob.end()}), "fuzzed");
  static_cast<void>(VerifyVectorIndex(*index, whole, SuperfileId()));
  if (index->row_count() > 0) {
    auto fetch = VectorFetch::Make(*index, {0, index->row_count() - 1}, nullptr);
    if (fetch.ok()) static_cast<void>(Drive(**fetch, blob));
  }
  const auto space = SpaceOf(index->column());
  return space == nullptr ? arrow::Status::OK() : Search(*index, *space, blob);
}

}  // namespace
}  // namespace infino::vector

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLengthBytes = 2;
  if (size < kLengthBytes) return 0;
  const infino::ByteSpan rest(data + kLengthBytes, size - kLengthBytes);
  const size_t length = infino::LoadU16(data);
  if (length > rest.size()) return 0;
  static_cast<void>(infino::vector::Run(rest.first(length), rest.subspan(length)));
  return 0;
}
