#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/catalog/connect_to_store.h"
#include "infino/catalog/session.h"
#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/options.h"
#include "infino/search.h"
#include "infino/storage/memory_store.h"
#include "infino/table.h"
#include "oracle/stepped_store.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/predicate_connection.h"
#include "support/random_table.h"
#include "support/random_vectors.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::Gt;

/// How many dependent rounds of reads a cold call takes on a table that was just opened, against
/// the table in the design document: pointer 1, open sections 1, dictionary 1, postings 1, rows 1.
class Rounds : public ::testing::Test {
 protected:
  static constexpr size_t kVocabulary = 30'000;

  std::shared_ptr<Connection> Open(const ConnectOptions& options = {}) {
    const PartsSource source = [store = store_]() -> arrow::Result<RuntimeParts> {
      return RuntimeParts{.store = store, .clock = SystemClock(), .random = Random::FromSystem()};
    };
    return ConnectToStore("test://", source, options).ValueOrDie();
  }

  void MakeTable(size_t superfiles, size_t row_count) {
    Random random(TestSeed());
    const std::vector<NullableText> texts =
        RandomTexts(random, {.row_count = row_count, .vocabulary = kVocabulary});
    const auto table = Open()->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
    const std::vector<size_t> bounds = CutEvenly(texts.size(), superfiles);
    for (size_t i = 0; i < superfiles; ++i) {
      const auto part = std::span(texts).subspan(bounds[i], bounds[i + 1] - bounds[i]);
      MustSucceed(table->Append(ReaderOf(part, static_cast<int64_t>(bounds[i]))).status());
    }
  }

  /// A search that touches a common, a middling and a rare word.
  [[nodiscard]] TextSearchRequest SearchFor(std::vector<std::string> projection) const {
    return {.column = "text",
            .query = WordOf(0) + " " + WordOf(100) + " " + WordOf(5000),
            .projection = std::move(projection)};
  }

  /// Rounds of the first search on a newly opened table.
  int ColdRounds(TextSearchRequest request, const ConnectOptions& options = {}) {
    const auto table = Open(options)->OpenTable("docs").ValueOrDie();
    return RoundsOf(*table, std::move(request));
  }

  int RoundsOf(Table& table, TextSearchRequest request) {
    request.stop = store_->Start();
    const auto found = table.Search(request);
    const int rounds = store_->Stop();
    EXPECT_THAT(found, IsOk());
    EXPECT_TRUE(found.ok() && (*found)->num_rows() > 0);
    return rounds;
  }

  std::shared_ptr<SteppedStore> store_ =
      std::make_shared<SteppedStore>(MakeMemoryStore(SystemClock()));
};

TEST_F(Rounds, AColdSearchTakesFiveFromAnOpenTable) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"})), 5);
}

TEST_F(Rounds, TheyDoNotGrowWithTheNumberOfSuperfiles) {
  MakeTable(/*superfiles=*/6, /*row_count=*/36'000);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"})), 5);
  EXPECT_GT(store_->read_count(), 6 * 3);
}

TEST_F(Rounds, IdsAndScoresNeedNoRows) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score"})), 4);
}

TEST_F(Rounds, SmallSuperfilesAreReadWholeInOne) {
  MakeTable(/*superfiles=*/5, /*row_count=*/500);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"})), 2);
}

TEST_F(Rounds, ManySuperfilesCostOneMoreForTheirTermFilters) {
  MakeTable(/*superfiles=*/20, /*row_count=*/40'000);
  EXPECT_LE(ColdRounds(SearchFor({"_id", "score", "text"})), 6);
}

TEST_F(Rounds, AFreshSnapshotIsNotAskedForAgain) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"}), {.freshness_ms = 3'600'000}), 4);
}

TEST_F(Rounds, AWarmSearchAsksThePointerOnly) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  const auto table = Open()->OpenTable("docs").ValueOrDie();
  EXPECT_EQ(RoundsOf(*table, SearchFor({"_id", "score", "text"})), 5);
  EXPECT_EQ(RoundsOf(*table, SearchFor({"_id", "score", "text"})), 1);
  EXPECT_EQ(store_->read_count(), 1);
}

TEST_F(Rounds, ACountOfOneWordEndsWithTheDictionary) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  const auto table = Open()->OpenTable("docs").ValueOrDie();
  CountRequest request{.column = "text", .query = WordOf(100)};
  request.stop = store_->Start();
  const auto count = table->Count(request);
  EXPECT_LE(store_->Stop(), 3);
  EXPECT_THAT(count, HasValue(Gt(0U)));
}

TEST_F(Rounds, TombstonesComeWithTheOpenSections) {
  MakeTable(/*superfiles=*/2, /*row_count=*/12'000);
  const auto table = ConnectWithPredicates(store_)->OpenTable("docs").ValueOrDie();
  MustSucceed(table->Delete("row % 3 = 1").status());
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"})), 5);
}

TEST_F(Rounds, GettingRowsByTheirIdsTakesThree) {
  MakeTable(/*superfiles=*/6, /*row_count=*/36'000);
  std::vector<arrow::Decimal128> ids;
  const auto found = Open()->OpenTable("docs").ValueOrDie()->Search(SearchFor({"_id"}));
  for (const RowId& id : IdColumn(**found)) {
    ids.emplace_back(static_cast<int64_t>(id.high), id.low);
  }
  ASSERT_FALSE(ids.empty());
  const auto table = Open()->OpenTable("docs").ValueOrDie();
  GetRequest request{.ids = ids};
  request.stop = store_->Start();
  const auto got = table->Get(request);
  EXPECT_EQ(store_->Stop(), 3) << "pointer, open sections, rows";
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ((*got)->num_rows(), static_cast<int64_t>(ids.size()));
}

/// The same for vectors, over two superfiles: pointer 1, open sections 1, codes 1, rerank rows 1,
/// rows 1.
class VectorRounds : public Rounds {
 protected:
  static constexpr size_t kRows = 6'000;
  static constexpr int32_t kDimension = 64;

  void SetUp() override {
    Random random(TestSeed());
    vectors_ = vector::GaussianVectors(random, kRows, kDimension);
    const std::vector<NullableText> texts =
        RandomTexts(random, {.row_count = kRows, .vocabulary = kVocabulary});
    const auto schema =
        RowTextSchema()
            ->AddField(2, arrow::field("vec", arrow::fixed_size_list(arrow::float32(), kDimension)))
            .ValueOrDie();
    const auto table = Open()->CreateTable("docs", schema, TextIndex().Vector("vec")).ValueOrDie();
    for (size_t begin = 0; begin < kRows; begin += kRows / 2) {
      const auto rows =
          RowsOf(std::span(texts).subspan(begin, kRows / 2), static_cast<int64_t>(begin));
      const auto vectors = vector::ArrayOf(std::span(vectors_).subspan(begin, kRows / 2));
      const auto batch = arrow::RecordBatch::Make(schema, rows->num_rows(),
                                                  {rows->column(0), rows->column(1), vectors});
      MustSucceed(table->Append(ReaderOf(batch)).status());
    }
  }

  [[nodiscard]] VectorSearchRequest SearchFor(std::vector<std::string> projection) const {
    VectorSearchRequest request;
    request.column = "vec";
    request.queries = {vectors_[7]};
    request.projection = std::move(projection);
    return request;
  }

  int ColdRounds(VectorSearchRequest request) {
    const auto table = Open()->OpenTable("docs").ValueOrDie();
    return RoundsOf(*table, std::move(request));
  }

  int RoundsOf(Table& table, VectorSearchRequest request) {
    request.stop = store_->Start();
    const auto found = table.VectorSearch(request);
    const int rounds = store_->Stop();
    EXPECT_THAT(found, IsOk());
    EXPECT_TRUE(found.ok() && (*found)->num_rows() > 0);
    return rounds;
  }

  vector::Vectors vectors_;
};

TEST_F(VectorRounds, AColdSearchTakesFiveFromAnOpenTable) {
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score"})), 4);
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "score", "text"})), 5);
}

TEST_F(VectorRounds, VectorsComeBackWithTheOtherColumns) {
  EXPECT_EQ(ColdRounds(SearchFor({"_id", "vec", "text"})), 5);
}

TEST_F(VectorRounds, AFilterCostsItsTwo) {
  VectorSearchRequest request = SearchFor({"_id", "score"});
  request.filter = TextFilter{.column = "text", .query = WordOf(0)};
  EXPECT_EQ(ColdRounds(std::move(request)), 6);
}

TEST_F(VectorRounds, ABatchCostsWhatOneQueryDoes) {
  VectorSearchRequest request = SearchFor({"_id", "score"});
  for (size_t i = 0; i < 20; ++i) request.queries.push_back(vectors_[i * 10]);
  EXPECT_EQ(ColdRounds(std::move(request)), 4);
}

TEST_F(VectorRounds, AWarmSearchAsksThePointerOnly) {
  const auto table = Open()->OpenTable("docs").ValueOrDie();
  EXPECT_EQ(RoundsOf(*table, SearchFor({"_id", "score", "text"})), 5);
  // What is searched again is worth keeping whole.
  EXPECT_LE(RoundsOf(*table, SearchFor({"_id", "score", "text"})), 2);
  EXPECT_EQ(RoundsOf(*table, SearchFor({"_id", "score", "text"})), 1);
}

TEST_F(VectorRounds, AHybridSearchLooksUpTermsWhileItScansCodes) {
  const auto table = Open()->OpenTable("docs").ValueOrDie();
  HybridSearchRequest request;
  request.text_column = "text";
  request.text = WordOf(0) + " " + WordOf(5000);
  request.vector_column = "vec";
  request.vector = vectors_[9];
  request.stop = store_->Start();
  const auto found = table->HybridSearch(request);
  EXPECT_EQ(store_->Stop(), 5);
  EXPECT_THAT(found, IsOk());
}

}  // namespace
}  // namespace infino
