#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/connection.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "infino/table.h"
#include "oracle/vector_exam.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/predicate_connection.h"
#include "support/random_table.h"
#include "support/reference_search.h"
#include "support/row_predicates.h"
#include "support/seed.h"

namespace infino {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Rows = std::vector<std::string>;

/// Which rows of a table are there, as its predicates tell.
class Living {
 public:
  void Delete(const std::string& predicate) { deleted_.push_back(predicate); }

  [[nodiscard]] bool Has(int64_t row) const {
    return std::ranges::none_of(deleted_,
                                [&](const std::string& each) { return HoldsFor(each, row); });
  }

 private:
  std::vector<std::string> deleted_;
};

/// Random texts in so many superfiles, some of them deleted, against the textbook: deleted rows are
/// in no answer and count in all statistics.
class DeletedRows : public ::testing::TestWithParam<size_t> {
 protected:
  static constexpr size_t kRowCount = 1200;

  DeletedRows() : store_(MakeMemoryStore(SystemClock())), random_(TestSeed()) {
    texts_ = RandomTexts(random_, {.row_count = kRowCount, .vocabulary = 150});
    connection_ = ConnectWithPredicates(store_);
    table_ = connection_->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
    const std::vector<size_t> bounds = CutEvenly(texts_.size(), GetParam());
    for (size_t i = 0; i < GetParam(); ++i) {
      const auto part = std::span(texts_).subspan(bounds[i], bounds[i + 1] - bounds[i]);
      MustSucceed(table_->Append(ReaderOf(part, static_cast<int64_t>(bounds[i]))).status());
    }
    for (size_t i = 0; i < 25; ++i) {
      queries_.push_back(RandomQuery(random_, 150, i % 6 == 5 ? 20 : 3));
    }
  }

  void Delete(const std::string& predicate) {
    uint64_t matched = 0;
    for (int64_t row = 0; row < static_cast<int64_t>(kRowCount); ++row) {
      if (living_.Has(row) && HoldsFor(predicate, row)) ++matched;
    }
    const auto deleted = table_->Delete(predicate);
    ASSERT_THAT(deleted, IsOk());
    EXPECT_EQ(deleted->matched, matched);
    EXPECT_EQ(deleted->tombstoned, matched);
    living_.Delete(predicate);
  }

  /// All searches by words find what they should, also under a condition.
  void ExpectAnswers(Table& table, const std::string& where) {
    const ReferenceSearch reference(texts_, {});
    for (const ReferenceQuery& query : queries_) {
      SCOPED_TRACE(query.Text() + " where " + where);
      const auto is_there = [&](int64_t row) {
        return living_.Has(row) && (where.empty() || HoldsFor(where, row));
      };
      std::vector<ReferenceHit> hits;
      for (const ReferenceHit& hit : reference.Search(query)) {
        if (is_there(hit.row)) hits.push_back(hit);
      }
      std::vector<int64_t> rows;
      for (const int64_t row : reference.Match(query)) {
        if (is_there(row)) rows.push_back(row);
      }
      for (const size_t k : {size_t{1}, size_t{10}, size_t{2000}}) {
        const auto found = table.Search({.column = "text",
                                         .query = query.Text(),
                                         .k = k,
                                         .mode = query.mode,
                                         .projection = Rows{"row", "score"},
                                         .where = where});
        ASSERT_THAT(found, IsOk());
        const std::vector<int64_t> found_rows = Int64Column(**found, "row");
        const std::vector<float> scores = FloatColumn(**found, "score");
        ASSERT_EQ(found_rows.size(), std::min(k, hits.size()));
        for (size_t i = 0; i < found_rows.size(); ++i) {
          ASSERT_EQ((ReferenceHit{.row = found_rows[i], .score = scores[i]}), hits[i]);
        }
      }
      const auto matches = table.TokenMatch({.column = "text",
                                             .query = query.Text(),
                                             .mode = query.mode,
                                             .projection = Rows{"row"},
                                             .where = where});
      ASSERT_THAT(matches, IsOk());
      ASSERT_EQ(Int64Column(**matches, "row"), rows);
      ASSERT_THAT(
          table.Count(
              {.column = "text", .query = query.Text(), .mode = query.mode, .where = where}),
          HasValue(Eq(rows.size())));
    }
  }

  /// Texts that occur once and more often are found just where they are.
  void ExpectExactMatches(Table& table) {
    for (int i = 0; i < 40; ++i) {
      const NullableText& text = texts_[random_.Below(texts_.size())];
      if (!text) continue;
      std::vector<int64_t> rows;
      for (size_t row = 0; row < texts_.size(); ++row) {
        if (texts_[row] == text && living_.Has(static_cast<int64_t>(row))) {
          rows.push_back(static_cast<int64_t>(row));
        }
      }
      const auto found =
          table.ExactMatch({.column = "text", .value = *text, .projection = Rows{"row"}});
      ASSERT_THAT(found, IsOk());
      ASSERT_EQ(Int64Column(**found, "row"), rows) << *text;
    }
  }

  void ExpectAllAnswers(Table& table) {
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(table, ""));
    ASSERT_NO_FATAL_FAILURE(ExpectAnswers(table, "row % 5 = 2"));
    ASSERT_NO_FATAL_FAILURE(ExpectExactMatches(table));
  }

  std::shared_ptr<ObjectStore> store_;
  Random random_;
  std::vector<NullableText> texts_;
  std::vector<ReferenceQuery> queries_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Table> table_;
  Living living_;
};

INSTANTIATE_TEST_SUITE_P(Superfiles, DeletedRows, ::testing::Values(1, 5, 60));

TEST_P(DeletedRows, AreInNoAnswerAndInAllStatistics) {
  ASSERT_NO_FATAL_FAILURE(ExpectAllAnswers(*table_));
  for (const std::string predicate : {"row % 3 = 1", "row < 130", "row % 7 = 0", "row = 777"}) {
    SCOPED_TRACE("after delete " + predicate);
    ASSERT_NO_FATAL_FAILURE(Delete(predicate));
    ASSERT_NO_FATAL_FAILURE(ExpectAllAnswers(*table_));
  }
  const auto reopened = ConnectWithPredicates(store_, {.thread_count = 4});
  const auto table = reopened->OpenTable("docs").ValueOrDie();
  ASSERT_NO_FATAL_FAILURE(ExpectAllAnswers(*table));
  uint64_t left = 0;
  for (int64_t row = 0; row < static_cast<int64_t>(kRowCount); ++row) left += living_.Has(row);
  EXPECT_EQ(table->Stats()->rows, left);
}

TEST_P(DeletedRows, MayBeAllOfThem) {
  ASSERT_NO_FATAL_FAILURE(Delete("true"));
  ASSERT_NO_FATAL_FAILURE(ExpectAllAnswers(*table_));
  EXPECT_EQ(table_->Stats()->rows, 0U);
  const auto again = table_->Delete("true");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->matched, 0U);
  EXPECT_EQ(again->version, table_->Stats()->version) << "nothing to delete is no commit";
}

TEST_P(DeletedRows, WithoutAPredicateThatIsOneNothingHappens) {
  const uint64_t version = table_->Stats()->version;
  EXPECT_THAT(table_->Delete("row is odd"), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(table_->Search({.column = "text", .query = "x", .where = "row is odd"}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_EQ(table_->Stats()->version, version);
}

TEST(Conditions, AreSqlOnAnyConnection) {
  const auto connection = Connect("memory://").ValueOrDie();
  const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
  MustSucceed(table->Append(ReaderOf(std::vector<NullableText>{"x", "x y", "y"})).status());
  const auto found = table->Search({.column = "text", .query = "x", .where = "row % 2 = 1"});
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ((*found)->num_rows(), 1);
  const auto wrong = table->Search({.column = "text", .query = "x", .where = "rows < 1"});
  EXPECT_THAT(wrong, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(wrong.status().message(), HasSubstr("rows"));
  const auto deleted = table->Delete("row < 1 OR text = 'y'");
  ASSERT_THAT(deleted, IsOk());
  EXPECT_EQ(deleted->matched, 2U);
}

/// The rows that are nearest to a query among those that pass, by the textbook.
std::vector<std::pair<double, int64_t>> NearestThat(const Exam& exam,
                                                    const std::vector<float>& query,
                                                    const std::string& mark,
                                                    const std::function<bool(int64_t)>& passes) {
  auto nearest = NearestOf(exam, query, mark);
  std::erase_if(nearest, [&](const auto& row) { return !passes(row.second); });
  return nearest;
}

TEST(DeletedVectors, AreNotFoundAndUseUpNothing) {
  for (const size_t superfiles : {size_t{1}, size_t{6}}) {
    const Exam exam = MakeExam({.rows = 700, .dimension = 24, .superfiles = superfiles});
    const Taken taken = MakeTable(exam, superfiles);
    Living living;
    for (const std::string predicate : {"row % 4 = 1", "row < 200", "row >= 690"}) {
      MustSucceed(taken.table->Delete(predicate).status());
      living.Delete(predicate);
      for (const std::vector<float>& query : exam.queries) {
        for (const std::string mark : {"", "tenth"}) {
          for (const std::string where : {"", "row % 3 = 0"}) {
            VectorSearchRequest request = RequestFor(query, 12, mark);
            request.where = where;
            request.effort.target_recall = 1.0;
            const Found found = Ask(*taken.table, request);
            const auto nearest = NearestThat(exam, query, mark, [&](int64_t row) {
              return living.Has(row) && (where.empty() || HoldsFor(where, row));
            });
            ASSERT_THAT(found.rows, SizeIs(std::min<size_t>(12, nearest.size())));
            std::set<int64_t> expected;
            for (size_t i = 0; i < found.rows.size(); ++i) expected.insert(nearest[i].second);
            // What is stored is rounded, so the last ones may change places.
            size_t wrong = 0;
            for (const int64_t row : found.rows) wrong += expected.contains(row) ? 0U : 1U;
            ASSERT_LE(wrong, 1U);
            for (const int64_t row : found.rows) ASSERT_TRUE(living.Has(row));
          }
        }
      }
    }
  }
}

TEST(DeletedVectors, AreNotFoundByHybridSearches) {
  const Exam exam = MakeExam({.rows = 300, .dimension = 16});
  const Taken taken = MakeTable(exam, 3);
  MustSucceed(taken.table->Delete("row % 2 = 1").status());
  for (const std::vector<float>& query : exam.queries) {
    const auto found = taken.table->HybridSearch({.text_column = "text",
                                                  .text = "all odd",
                                                  .vector_column = "vec",
                                                  .vector = query,
                                                  .k = 20,
                                                  .projection = Rows{"row"},
                                                  .where = "row >= 100"});
    ASSERT_THAT(found, IsOk());
    const std::vector<int64_t> rows = Int64Column(**found, "row");
    EXPECT_THAT(rows, SizeIs(20));
    for (const int64_t row : rows) EXPECT_TRUE(row % 2 == 0 && row >= 100) << row;
  }
}

/// One superfile whose tombstones were damaged.
class DamagedTombstones : public ::testing::Test {
 protected:
  DamagedTombstones() : store_(MakeMemoryStore(SystemClock())) {
    const auto connection = ConnectWithPredicates(store_);
    const auto table = connection->CreateTable("docs", RowTextSchema(), TextIndex()).ValueOrDie();
    std::vector<NullableText> texts(100, "some words");
    MustSucceed(table->Append(ReaderOf(texts)).status());
    MustSucceed(table->Delete("row % 3 = 0").status());
    for (const ObjectInfo& object : Wait(store_->List("docs")).ValueOrDie()) {
      if (object.path.find("/tombstones/") != std::string::npos) path_ = object.path;
    }
    bytes_ = Wait(store_->Get(path_)).ValueOrDie().bytes;
  }

  void Replace(const std::shared_ptr<arrow::Buffer>& bytes) {
    MustSucceed(WaitDone(store_->Delete(path_)));
    if (bytes != nullptr) MustSucceed(Wait(store_->PutIfAbsent(path_, bytes)).status());
  }

  void ExpectNoticed() {
    const auto connection = ConnectWithPredicates(store_);
    const auto table = connection->OpenTable("docs").ValueOrDie();
    const auto found = table->Search({.column = "text", .query = "words"});
    ASSERT_THAT(found, IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(found.status().message(), HasSubstr(path_));
    EXPECT_THAT(table->Count({.column = "text", .query = "words"}), IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(table->Delete("row = 1"), IsError(ErrorKind::kCorrupt));
  }

  std::shared_ptr<ObjectStore> store_;
  std::string path_;
  std::shared_ptr<arrow::Buffer> bytes_;
};

TEST_F(DamagedTombstones, AreNoticedWhereverABitIsFlipped) {
  for (int64_t i = 0; i < bytes_->size(); i += 3) {
    std::vector<uint8_t> flipped(bytes_->data(), bytes_->data() + bytes_->size());
    flipped[static_cast<size_t>(i)] ^= static_cast<uint8_t>(1U << (i % 8));
    Replace(arrow::Buffer::FromVector(std::move(flipped)));
    ASSERT_NO_FATAL_FAILURE(ExpectNoticed()) << "byte " << i;
  }
}

TEST_F(DamagedTombstones, AreNoticedWhereTheyAreCutOrGone) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, bytes_->size() - 1}) {
    Replace(arrow::SliceBuffer(bytes_, 0, size));
    ASSERT_NO_FATAL_FAILURE(ExpectNoticed()) << "size " << size;
  }
  Replace(nullptr);
  ExpectNoticed();
}

}  // namespace
}  // namespace infino
