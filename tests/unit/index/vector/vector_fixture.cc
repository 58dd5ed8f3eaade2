#include "unit/index/vector/vector_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/cluster_choice.h"
#include "infino/index/vector/point_list.h"

namespace infino::vector {
namespace {

void Check(const arrow::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << '\n';
  std::abort();
}

template <typename T>
T Take(arrow::Result<T> result) {
  Check(result.status());
  return std::move(result).ValueUnsafe();
}

}  // namespace

std::shared_ptr<const VectorSpace> SpaceOf(const VectorColumn& column, const Vectors& rows,
                                           size_t points) {
  std::vector<float> sample;
  for (const auto& row : rows) sample.insert(sample.end(), row.begin(), row.end());
  const auto list =
      Take(TrainPoints(column, sample, {.points_max = points, .rows_per_point = 8, .seed = 1}));
  return Take(VectorSpace::Make(column, {list}));
}

BuiltVectors BuildVectors(const std::shared_ptr<const VectorSpace>& space,
                          std::span<const std::vector<float>> rows, VectorBuildMemory memory) {
  BuiltVectors built;
  const auto builder = VectorIndexBuilder::Make(space, SuperfileId(), std::move(memory));
  constexpr size_t kBatch = 1000;
  for (size_t begin = 0; begin < rows.size(); begin += kBatch) {
    Check(builder->Add(*ArrayOf(rows.subspan(begin, std::min(kBatch, rows.size() - begin)))));
  }
  const auto sink = Take(arrow::io::BufferOutputStream::Create());
  built.finished = Take(builder->Finish(*sink));
  built.blob = Take(sink->Finish());
  built.reader =
      Take(VectorIndexReader::Open(built.finished.open_part, built.blob->size(), "test"));
  return built;
}

arrow::Status Drive(VectorSearch& search, const arrow::Buffer& blob, SearchRounds* rounds) {
  for (;;) {
    ARROW_RETURN_NOT_OK(search.Resume());
    const std::vector<ByteRange> ranges = search.NextReads();
    if (ranges.empty()) return arrow::Status::OK();
    Buffers buffers;
    for (const ByteRange& range : ranges) {
      if (range.offset < 0 || range.end() > blob.size()) {
        return MakeError(ErrorKind::kCorrupt, "range past the blob");
      }
      // A copy of just the range, so that a sanitizer sees any access beyond it.
      buffers.push_back(ToBuffer(std::vector<uint8_t>(blob.data() + range.offset,
                                                      blob.data() + range.offset + range.length)));
      if (rounds != nullptr) rounds->bytes += range.length;
    }
    if (rounds != nullptr) {
      ++rounds->rounds;
      rounds->ranges += static_cast<int64_t>(ranges.size());
    }
    ARROW_RETURN_NOT_OK(search.Feed(std::move(buffers)));
  }
}

arrow::Result<std::vector<ScoredDoc>> Ask(const BuiltVectors& built, const VectorSpace& space,
                                          const std::vector<float>& query,
                                          const AskOptions& options, SearchRounds* rounds) {
  ARROW_ASSIGN_OR_RAISE(
      const PreparedQuery prepared,
      PreparedQuery::Make(space, query,
                          ConfidenceFor(options.target_recall, !options.search.clusters)));
  ARROW_ASSIGN_OR_RAISE(const auto search,
                        VectorSearch::Make(*built.reader, space, std::span(&prepared, 1),
                                           options.filter, options.search));
  ARROW_RETURN_NOT_OK(Drive(*search, *built.blob, rounds));
  const auto top = search->TopDocs(0);
  return std::vector<ScoredDoc>(top.begin(), top.end());
}

std::vector<DocId> NearestOf(VectorMetric metric, const Vectors& rows,
                             const std::vector<float>& query, size_t k, const DocFilter* filter) {
  std::vector<std::pair<double, DocId>> all;
  for (DocId doc = 0; doc < rows.size(); ++doc) {
    if (filter != nullptr && !filter->Passes(doc)) continue;
    all.emplace_back(ExactDistance(metric, query, rows[doc]), doc);
  }
  const size_t count = std::min(k, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<ptrdiff_t>(count));
  std::vector<DocId> docs;
  for (size_t i = 0; i < count; ++i) docs.push_back(all[i].second);
  return docs;
}

double MeasureRecall(const BuiltVectors& built, const VectorSpace& space, const Vectors& rows,
                     const Vectors& queries, const AskOptions& options) {
  const VectorMetric metric = space.column().metric;
  double found = 0;
  double wanted = 0;
  for (const auto& query : queries) {
    const std::vector<DocId> nearest =
        NearestOf(metric, rows, query, options.search.k, options.filter);
    const auto top = Take(Ask(built, space, query, options));
    if (nearest.empty()) continue;
    const double farthest = ExactDistance(metric, query, rows[nearest.back()]);
    for (const ScoredDoc& hit : top) {
      const double distance = ExactDistance(metric, query, rows[hit.doc]);
      found += distance <= farthest + 1e-6 * std::abs(farthest) ? 1 : 0;
    }
    wanted += static_cast<double>(nearest.size());
  }
  return wanted > 0 ? found / wanted : 1;
}

}  // namespace infino::vector
