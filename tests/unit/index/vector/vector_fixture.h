#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/doc_filter.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_builder.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_search.h"
#include "infino/index/vector/vector_space.h"
#include "support/random_vectors.h"

namespace infino::vector {

/// With one list of points trained on the rows.
[[nodiscard]] std::shared_ptr<const VectorSpace> SpaceOf(const VectorColumn& column,
                                                         const Vectors& rows, size_t points);

struct BuiltVectors {
  FinishedVectorIndex finished;
  std::shared_ptr<arrow::Buffer> blob;
  std::shared_ptr<const VectorIndexReader> reader;
};

/// Ends the process if it fails.
[[nodiscard]] BuiltVectors BuildVectors(const std::shared_ptr<const VectorSpace>& space,
                                        std::span<const std::vector<float>> rows,
                                        VectorBuildMemory memory = {});

/// How a search went.
struct SearchRounds {
  int rounds = 0;
  int64_t ranges = 0;
  int64_t bytes = 0;
};

/// Feeds `search` from the blob until it is done.
arrow::Status Drive(VectorSearch& search, const arrow::Buffer& blob,
                    SearchRounds* rounds = nullptr);

struct AskOptions {
  VectorSearchOptions search = {};
  double target_recall = 0.99;
  const DocFilter* filter = nullptr;
};

/// One query on one index.
[[nodiscard]] arrow::Result<std::vector<ScoredDoc>> Ask(const BuiltVectors& built,
                                                        const VectorSpace& space,
                                                        const std::vector<float>& query,
                                                        const AskOptions& options,
                                                        SearchRounds* rounds = nullptr);

/// The k nearest of the rows that pass, by ExactDistance.
[[nodiscard]] std::vector<DocId> NearestOf(VectorMetric metric, const Vectors& rows,
                                           const std::vector<float>& query, size_t k,
                                           const DocFilter* filter = nullptr);

/// The share of the k nearest rows that the search finds, over all queries. A row as near as the
/// k-th nearest counts as one of them.
[[nodiscard]] double MeasureRecall(const BuiltVectors& built, const VectorSpace& space,
                                   const Vectors& rows, const Vectors& queries,
                                   const AskOptions& options);

}  // namespace infino::vector
