#include "infino/index/vector/recall_measure.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/code_scan.h"
#include "infino/index/vector/encoded_rows.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/sign_code.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_row.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

/// With fewer rows a file is scanned whole.
constexpr uint32_t kRowsMin = 4096;

constexpr uint32_t kQueries = 256;
constexpr size_t kNeighbours = 10;

/// What is measured on a sample is kept with some to spare: this part of what a recall lacks.
constexpr double kReserve = 0.25;

/// Rows that are compared exactly for each query: the nearest by their codes.
constexpr size_t kCandidates = 200;

template <typename Near>
void KeepNearest(std::vector<Near>& nearest, size_t count) {
  if (nearest.size() <= count) return;
  std::ranges::nth_element(
      nearest, nearest.begin() + static_cast<ptrdiff_t>(count - 1), {},
      [](const Near& near) { return std::pair(near.distance, near.position); });
  nearest.resize(count);
}

}  // namespace

RecallMeasure::RecallMeasure(const VectorSpace& space, const ClusterMap& map, uint32_t row_count)
    : space_(space), map_(map), row_count_(row_count) {}

arrow::Result<std::unique_ptr<RecallMeasure>> RecallMeasure::Make(const VectorSpace& space,
                                                                  const ClusterMap& map,
                                                                  EncodedRows& rows) {
  const uint32_t row_count = map.clusters().empty() ? 0 : map.clusters().back().end;
  auto measure = std::make_unique<RecallMeasure>(space, map, row_count);
  if (row_count >= kRowsMin) ARROW_RETURN_NOT_OK(measure->ReadQueries(rows));
  return measure;
}

/// Positions are in no order that has to do with the vectors but their clusters: equal steps give
/// each cluster its share.
arrow::Status RecallMeasure::ReadQueries(EncodedRows& rows) {
  for (uint32_t i = 0; i < kQueries; ++i) {
    const auto position =
        static_cast<uint32_t>((uint64_t{i} * row_count_ + row_count_ / 2) / kQueries);
    ARROW_ASSIGN_OR_RAISE(const std::vector<float> vector, ReadQuery(rows, position));
    // A vector of damaged bytes may not be finite; here that is no error.
    if (!CheckVector(space_.column(), vector, "row").ok()) continue;
    ARROW_ASSIGN_OR_RAISE(PreparedQuery prepared, PreparedQuery::Make(space_, vector, 0));
    queries_.push_back(std::make_unique<Query>(std::move(prepared), map_, position));
    queries_.back()->limit = std::numeric_limits<float>::infinity();
  }
  return arrow::Status::OK();
}

/// The stored vector; without one, about the one that its code was made of.
arrow::Result<std::vector<float>> RecallMeasure::ReadQuery(EncodedRows& rows, uint32_t position) {
  const VectorColumn& column = space_.column();
  std::vector<float> vector(column.dimension);
  if (column.tier != RerankTier::kNone) {
    const RowFormat format(column);
    std::vector<uint8_t> row(format.row_bytes());
    ARROW_RETURN_NOT_OK(rows.ReadRows(position, row));
    format.Decode(row, vector);
    return vector;
  }
  std::vector<uint8_t> record(CodeRecordBytes(column.dimension));
  ARROW_RETURN_NOT_OK(rows.ReadCodes(position, record));
  DecodeSigns(record, space_, map_.clusters()[map_.ClusterOf(position)].point, vector);
  return vector;
}

void RecallMeasure::TakeBlock(std::span<const uint8_t> block, uint32_t number) {
  if (queries_.empty()) return;
  const uint32_t first = number * static_cast<uint32_t>(kBlockCodes);
  const auto clusters = map_.clusters();
  while (clusters[cluster_].end <= first) ++cluster_;
  const uint32_t codes = std::min(row_count_ - first, static_cast<uint32_t>(kBlockCodes));
  const uint32_t all = ~uint32_t{0} >> (kBlockCodes - codes);
  for (const auto& query : queries_) {
    uint32_t found = query->scanner.Scan(block.data(), number, cluster_, all, query->limit);
    for (; found != 0; found &= found - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(found));
      const float distance = query->scanner.estimates().distance[lane];
      if (first + lane == query->own || std::isnan(distance)) continue;
      query->nearest.push_back({.distance = distance, .position = first + lane});
    }
    if (query->nearest.size() < 2 * kCandidates) continue;
    KeepNearest(query->nearest, kCandidates);
    query->limit = std::ranges::max(query->nearest, {}, &Near::distance).distance;
  }
}

void RecallMeasure::StartRows() {
  rows_started_ = true;
  for (const auto& query : queries_) {
    KeepNearest(query->nearest, kCandidates);
    std::ranges::sort(query->nearest, {}, &Near::position);
  }
}

void RecallMeasure::TakeRows(std::span<const uint8_t> rows, uint32_t begin) {
  if (queries_.empty()) return;
  if (!rows_started_) StartRows();
  const RowFormat format(space_.column());
  const auto end = static_cast<uint32_t>(begin + rows.size() / format.row_bytes());
  for (const auto& query : queries_) {
    const RowScorer scorer(format, query->prepared.vector());
    for (; query->next < query->nearest.size(); ++query->next) {
      Near& near = query->nearest[query->next];
      if (near.position >= end) break;
      near.distance = scorer.DistanceOf(rows.data() + (near.position - begin) * format.row_bytes());
    }
  }
}

RecallCurve RecallMeasure::Finish() {
  RecallCurve curve;
  curve.fill(1);
  const auto clusters = map_.clusters();
  std::vector<double> needed;  // for each neighbour of each query, the rows looked at to meet it
  std::vector<size_t> order(clusters.size());
  std::vector<uint32_t> rows_until(clusters.size());
  for (const auto& query : queries_) {
    KeepNearest(query->nearest, kNeighbours);
    const auto nearness = [&](size_t cluster) {
      const PointRef point = clusters[cluster].point;
      return std::pair(query->prepared.list(point.list).base[point.place], cluster);
    };
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, nearness);
    uint32_t rows = 0;
    for (const size_t cluster : order) {
      rows += clusters[cluster].size();
      rows_until[cluster] = rows;
    }
    for (const Near& near : query->nearest)
      needed.push_back(rows_until[map_.ClusterOf(near.position)]);
  }
  if (needed.empty()) return curve;
  std::ranges::sort(needed);
  for (size_t i = 0; i < kCurvePoints; ++i) {
    const double recall = kCurveRecalls[i] + kReserve * (1 - kCurveRecalls[i]);
    const double rank = std::ceil(recall * static_cast<double>(needed.size()));
    const auto ordinal = std::min(static_cast<size_t>(rank), needed.size()) - 1;
    curve[i] = needed[ordinal] / row_count_;
  }
  return curve;
}

}  // namespace infino::vector
