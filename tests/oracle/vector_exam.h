#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>

#include "infino/connection.h"
#include "infino/index/vector/vector_column.h"
#include "infino/search.h"
#include "infino/table.h"
#include "support/random_vectors.h"

namespace infino {

/// Rows to be searched: vectors, and for each a text of marks that filters ask for.
struct Exam {
  vector::VectorMetric metric = vector::VectorMetric::kCosine;
  std::string rerank = "sq8_residual";
  vector::Vectors rows = {};
  vector::Vectors queries = {};
};

/// What the rows are like.
enum class Kind { kGaussian, kClusters, kClusterByCluster, kDuplicates };

struct Setting {
  Kind kind = Kind::kGaussian;
  size_t rows = 1000;
  size_t dimension = 64;
  vector::VectorMetric metric = vector::VectorMetric::kCosine;
  std::string rerank = "sq8_residual";
  size_t superfiles = 1;
};

void PrintTo(const Setting& setting, std::ostream* out);

/// Rows of that kind, and thirty queries that are distributed like them.
[[nodiscard]] Exam MakeExam(const Setting& setting);

/// Whether a row of so many has the mark: "all", "odd" or "even", "tenth" for every tenth, "rare"
/// for five rows.
[[nodiscard]] bool HasMark(size_t row, size_t count, const std::string& mark);

/// `row` int64, `text` with the marks, `vec`.
[[nodiscard]] std::shared_ptr<arrow::Schema> ExamSchema(size_t dimension);

/// A table of the exam's rows, and what it lives in.
struct Taken {
  std::shared_ptr<Connection> connection;
  std::shared_ptr<Table> table;
};

[[nodiscard]] Taken MakeTable(const Exam& exam, size_t superfiles, int threads = 1);

struct Found {
  std::vector<int64_t> rows;
  std::vector<float> scores;

  friend bool operator==(const Found&, const Found&) = default;
};

[[nodiscard]] VectorSearchRequest RequestFor(const std::vector<float>& query, uint64_t k,
                                             const std::string& mark = "");

/// Fails the test unless it works.
[[nodiscard]] Found Ask(Table& table, const VectorSearchRequest& request);

/// The rows with that mark, nearest first, with their distances by the textbook.
[[nodiscard]] std::vector<std::pair<double, int64_t>> NearestOf(const Exam& exam,
                                                                const std::vector<float>& query,
                                                                const std::string& mark);

}  // namespace infino
