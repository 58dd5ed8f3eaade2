#include "oracle/vector_exam.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/index/vector/vector_column.h"
#include "infino/search.h"
#include "infino/storage/memory_store.h"
#include "infino/table.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/predicate_connection.h"
#include "support/random_vectors.h"
#include "support/seed.h"

namespace infino {

using vector::Vectors;

namespace {

std::string MarksOf(size_t row, size_t count) {
  std::string marks = row % 2 == 0 ? "all even" : "all odd";
  if (row % 10 == 3) marks += " tenth";
  if (row % std::max<size_t>(count / 5, 1) == 1) marks += " rare";
  return marks;
}

std::shared_ptr<arrow::RecordBatchReader> RowsFrom(const Exam& exam, size_t begin, size_t end) {
  std::vector<NullableText> texts;
  for (size_t row = begin; row < end; ++row) texts.emplace_back(MarksOf(row, exam.rows.size()));
  const auto batch = RowsOf(texts, static_cast<int64_t>(begin));
  const auto vectors = vector::ArrayOf(std::span(exam.rows).subspan(begin, end - begin));
  return ReaderOf(arrow::RecordBatch::Make(ExamSchema(exam.rows.front().size()), batch->num_rows(),
                                           {batch->column(0), batch->column(1), vectors}));
}

}  // namespace

bool HasMark(size_t row, size_t count, const std::string& mark) {
  return (" " + MarksOf(row, count) + " ").find(" " + mark + " ") != std::string::npos;
}

std::shared_ptr<arrow::Schema> ExamSchema(size_t dimension) {
  return arrow::schema(
      {arrow::field("row", arrow::int64(), false), arrow::field("text", arrow::large_utf8()),
       arrow::field("vec",
                    arrow::fixed_size_list(arrow::float32(), static_cast<int32_t>(dimension)))});
}

Taken MakeTable(const Exam& exam, size_t superfiles, int threads) {
  Taken taken;
  taken.connection =
      ConnectWithPredicates(MakeMemoryStore(SystemClock()), {.thread_count = threads});
  IndexSpec spec = TextIndex();
  spec.Vector("vec", 0,
              {.metric = std::string(vector::NameOf(exam.metric)), .rerank = exam.rerank});
  taken.table = taken.connection->CreateTable("docs", ExamSchema(exam.rows.front().size()), spec)
                    .ValueOrDie();
  const std::vector<size_t> bounds = CutEvenly(exam.rows.size(), superfiles);
  for (size_t i = 0; i < superfiles; ++i) {
    MustSucceed(taken.table->Append(RowsFrom(exam, bounds[i], bounds[i + 1])).status());
  }
  return taken;
}

VectorSearchRequest RequestFor(const std::vector<float>& query, uint64_t k,
                               const std::string& mark) {
  VectorSearchRequest request;
  request.column = "vec";
  request.queries = {query};
  request.k = k;
  if (!mark.empty()) request.filter = TextFilter{.column = "text", .query = mark};
  request.projection = std::vector<std::string>{"row", "score", "_id"};
  return request;
}

Found Ask(Table& table, const VectorSearchRequest& request) {
  const auto found = table.VectorSearch(request);
  EXPECT_THAT(found, IsOk());
  if (!found.ok()) return {};
  EXPECT_THAT((*found)->ValidateFull(), IsOk());
  return {.rows = Int64Column(**found, "row"), .scores = FloatColumn(**found, "score")};
}

std::vector<std::pair<double, int64_t>> NearestOf(const Exam& exam, const std::vector<float>& query,
                                                  const std::string& mark) {
  std::vector<std::pair<double, int64_t>> all;
  for (size_t row = 0; row < exam.rows.size(); ++row) {
    if (!mark.empty() && !HasMark(row, exam.rows.size(), mark)) continue;
    all.emplace_back(vector::ExactDistance(exam.metric, query, exam.rows[row]),
                     static_cast<int64_t>(row));
  }
  std::ranges::sort(all);
  return all;
}

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << "kind " << static_cast<int>(setting.kind) << ", " << setting.rows << " x "
       << setting.dimension << ", " << vector::NameOf(setting.metric) << ", " << setting.rerank
       << ", " << setting.superfiles << " superfiles";
}

Exam MakeExam(const Setting& setting) {
  Random random(TestSeed());
  Exam exam{.metric = setting.metric, .rerank = setting.rerank};
  switch (setting.kind) {
    case Kind::kGaussian:
      exam.rows = vector::GaussianVectors(random, setting.rows, setting.dimension);
      break;
    case Kind::kClusters:
    case Kind::kClusterByCluster:
      exam.rows = vector::ClusteredVectors(random, setting.rows, setting.dimension, 25, 0.2);
      break;
    case Kind::kDuplicates:
      exam.rows = vector::ClusteredVectors(random, setting.rows, setting.dimension, 20, 0);
      break;
  }
  if (setting.kind == Kind::kClusterByCluster) {
    Vectors sorted;
    for (size_t cluster = 0; cluster < 25; ++cluster) {
      for (size_t row = cluster; row < exam.rows.size(); row += 25)
        sorted.push_back(exam.rows[row]);
    }
    exam.rows = std::move(sorted);
  }
  // Distributed like the rows, as the promise has it.
  for (size_t i = 0; i < 30; ++i) {
    std::vector<float> query = exam.rows[random.Below(exam.rows.size())];
    for (float& number : query) number += 0.3F * vector::DrawGaussian(random);
    exam.queries.push_back(std::move(query));
  }
  return exam;
}

}  // namespace infino
