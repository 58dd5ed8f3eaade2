#include "infino/index/vector/cluster_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/error.h"
#include "infino/index/vector/block_scanner.h"
#include "infino/index/vector/prepared_query.h"
#include "infino/index/vector/vector_format.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"

namespace infino::vector {
namespace {

using Choice = std::vector<std::optional<std::vector<uint32_t>>>;

/// A cluster of one of the files, as one query sees it.
struct RankedCluster {
  float distance = 0;
  PointRef point;
  uint32_t file = 0;
  uint32_t ordinal = 0;
  int64_t rows = 0;
};

/// The fraction for a recall between those of the curve: the one for the next higher.
double FractionOf(const RecallCurve& curve, double recall) {
  for (size_t i = 0; i < kCurvePoints; ++i) {
    if (recall <= kCurveRecalls[i]) return curve[i];
  }
  return 1;
}

int64_t ScannedAnyway(const RecallOptions& options) {
  constexpr int64_t kWhatever = 200'000;
  constexpr int64_t kForLess = 20'000;
  constexpr double kLess = 0.99;
  return options.scan_all_rows_max.value_or(options.target_recall < kLess ? kForLess : kWhatever);
}

/// How many rows are to be scanned; all of them if nothing better is known.
double RowsWanted(std::span<const SearchedIndex> files, const RecallOptions& options) {
  double rows = 0;
  double passing = 0;
  double measured = 0;
  double fraction = 0;
  for (const SearchedIndex& file : files) {
    rows += file.index->row_count();
    passing += static_cast<double>(file.passing_rows);
    if (file.index->curve().front() >= 1) continue;  // too small to have one
    measured += file.index->row_count();
    fraction = std::max(fraction, FractionOf(file.index->curve(), options.target_recall));
  }
  if (passing <= static_cast<double>(ScannedAnyway(options)) || passing < rows / 2 ||
      measured < rows / 2) {
    return rows;
  }
  // So many that k pass among them, with some to spare.
  const double for_k = 4 * static_cast<double>(options.k) * rows / passing;
  return std::max(fraction * rows * rows / passing, for_k);
}

/// How much is to be looked at: so many rows, or what so many reference points have.
struct Wanted {
  double rows = 0;
  std::optional<uint32_t> points;
};

/// Adds the clusters that one query wants; orders `ranked` by the way.
void ChooseFor(const PreparedQuery& query, const Wanted& wanted, std::vector<RankedCluster>& ranked,
               std::vector<std::vector<bool>>& chosen) {
  for (RankedCluster& cluster : ranked) {
    cluster.distance = query.list(cluster.point.list).base[cluster.point.place];
  }
  std::ranges::sort(ranked, {}, [](const RankedCluster& cluster) {
    return std::tuple(cluster.distance, cluster.point, cluster.file);
  });
  double rows = 0;
  uint32_t points = 0;
  std::optional<PointRef> last;
  for (const RankedCluster& cluster : ranked) {
    if (last != cluster.point) {
      const bool enough =
          wanted.points.has_value() ? points == *wanted.points : rows >= wanted.rows;
      if (enough) return;
      ++points;
      last = cluster.point;
    }
    rows += static_cast<double>(cluster.rows);
    chosen[cluster.file][cluster.ordinal] = true;
  }
}

}  // namespace

arrow::Status CheckRecallOptions(const RecallOptions& options) {
  if (!(options.target_recall > 0 && options.target_recall <= 1)) {
    return MakeError(ErrorKind::kInvalidArgument,
                     "search vectors: target_recall is above 0 and at most 1: target_recall=" +
                         std::to_string(options.target_recall));
  }
  if (options.nprobe == 0U) {
    return MakeError(ErrorKind::kInvalidArgument, "search vectors: nprobe is at least 1");
  }
  return arrow::Status::OK();
}

bool ScansAll(std::span<const SearchedIndex> files, const RecallOptions& options) {
  if (options.nprobe.has_value()) return false;
  double total = 0;
  for (const SearchedIndex& file : files) total += file.index->row_count();
  return RowsWanted(files, options) >= total;
}

double ConfidenceFor(double target_recall, bool scans_all) {
  struct Step {
    double recall;
    double confidence;
  };

  // Measured on Gaussian noise of 64 to 1536 dimensions, where all rows are about as near: what
  // gives the recall there, and some more. Real embeddings need half of it.
  constexpr std::array<Step, 6> kSteps = {
      {{0.90, 1.3}, {0.95, 1.6}, {0.98, 2.0}, {0.99, 2.3}, {0.998, 2.6}, {0.9999, 3.5}}};
  // Choosing clusters loses rows as well: then codes may lose a fifth of what may be lost.
  if (!scans_all) target_recall = 1 - (1 - target_recall) / 5;
  for (const Step& step : kSteps) {
    if (target_recall <= step.recall) return step.confidence;
  }
  return 4;
}

bool IsExact(const RecallOptions& options) {
  return options.target_recall >= 1 && !options.nprobe.has_value();
}

arrow::Result<Choice> ChooseClusters(const VectorSpace& space,
                                     std::span<const PreparedQuery> queries,
                                     std::span<const SearchedIndex> files,
                                     const RecallOptions& options) {
  ARROW_RETURN_NOT_OK(CheckRecallOptions(options));
  Choice choice(files.size());
  if (ScansAll(files, options)) return choice;
  const double wanted = RowsWanted(files, options);
  std::vector<RankedCluster> ranked;
  std::vector<std::vector<bool>> chosen(files.size());
  for (uint32_t i = 0; i < files.size(); ++i) {
    const VectorIndexReader& index = *files[i].index;
    ARROW_ASSIGN_OR_RAISE(const ClusterMap map,
                          ClusterMap::Make(index.lists(), index.clusters(), space));
    for (uint32_t ordinal = 0; ordinal < map.clusters().size(); ++ordinal) {
      const VectorCluster& cluster = map.clusters()[ordinal];
      ranked.push_back(
          {.point = cluster.point, .file = i, .ordinal = ordinal, .rows = cluster.size()});
    }
    chosen[i].resize(map.clusters().size());
  }
  for (const PreparedQuery& query : queries) {
    ChooseFor(query, {.rows = wanted, .points = options.nprobe}, ranked, chosen);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    choice[i].emplace();
    for (uint32_t ordinal = 0; ordinal < chosen[i].size(); ++ordinal) {
      if (chosen[i][ordinal]) choice[i]->push_back(ordinal);
    }
  }
  return choice;
}

}  // namespace infino::vector
