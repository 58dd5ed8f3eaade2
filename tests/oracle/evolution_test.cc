#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/error.h"
#include "infino/search.h"
#include "infino/table.h"
#include "oracle/table_model.h"
#include "support/builders.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

/// A table that grows and changes at random, next to a model of its rows.
class EvolvingTable {
 public:
  EvolvingTable(const std::string& folder, uint64_t seed) : random_(seed), folder_(folder) {
    Reopen();
    const std::string patch =
        R"({"fields":[{"name":"all","type":"large_utf8","index":{"kind":"fts"}}]})";
    MustSucceed(connection_->EvolveSchema("t", patch).status());
    all_ = model_.Add({.name = "all", .text = true});
    table_ = connection_->OpenTable("t").ValueOrDie();
  }

  void Step() {
    switch (random_.Below(8)) {
      case 0:
        AddColumn();
        break;
      case 1:
      case 2:
        WidenSome();
        break;
      case 3:
        RenameSome();
        break;
      case 4:
        if (random_.Below(2) == 0) DropSome();
        break;
      case 5:
        Reopen();
        break;
      default:
        Append();
        break;
    }
    if (::testing::Test::HasFatalFailure()) return;
    Check();
  }

  /// How many columns SQL was asked for.
  [[nodiscard]] int sql_column_count() const { return sql_column_count_; }

 private:
  void Reopen() {
    connection_ = Connect(folder_).ValueOrDie();
    const auto table = connection_->OpenTable("t");
    if (table.ok()) table_ = *table;
  }

  std::string NewName() {
    // Few names, so that those of dropped columns come back.
    std::string name;
    do {
      name = "c" + std::to_string(random_.Below(12));
    } while (model_.HasName(name));
    return name;
  }

  ModelColumn NewColumn() {
    ModelColumn column{.name = NewName(), .chain = random_.Below(TypeChains().size())};
    column.place = random_.Below(TypeChains()[column.chain].size());
    return column;
  }

  /// Any column but the one that finds every row.
  std::optional<int> SomeColumn() {
    const std::vector<int> ids = model_.ids();
    if (ids.size() < 2) return std::nullopt;
    return ids[1 + random_.Below(ids.size() - 1)];
  }

  void Patch(const std::string& field) {
    last_ = field;
    INFINO_ASSERT_OK(connection_->EvolveSchema("t", R"({"fields":[)" + field + "]}").status());
  }

  void AddColumn() {
    if (model_.columns().size() > 8) return;
    ModelColumn column = NewColumn();
    column.text = column.chain == 0;
    const std::string index = column.text ? R"(,"index":{"kind":"fts"})" : "";
    Patch(R"({"name":")" + column.name + "\"," + column.type().document + index + "}");
    static_cast<void>(model_.Add(column));
  }

  void WidenSome() {
    const std::optional<int> id = SomeColumn();
    if (!id) return;
    ModelColumn& column = model_.column(*id);
    const size_t left = TypeChains()[column.chain].size() - 1 - column.place;
    if (left == 0) return;
    column.place += 1 + random_.Below(left);
    Patch(R"({"name":")" + column.name + "\"," + column.type().document + "}");
  }

  void RenameSome() {
    const std::optional<int> id = SomeColumn();
    if (!id) return;
    ModelColumn& column = model_.column(*id);
    const std::string name = NewName();
    Patch(R"({"id":)" + std::to_string(FieldId(column.name)) + R"(,"name":")" + name + "\"}");
    column.name = name;
  }

  void DropSome() {
    const std::optional<int> id = SomeColumn();
    if (!id) return;
    Patch(R"({"name":")" + model_.column(*id).name + R"(","dropped":true})");
    model_.Drop(*id);
  }

  /// The id that the document gives a column.
  int64_t FieldId(const std::string& name) {
    const std::string document = connection_->GetSchemaDocument("t").ValueOrDie();
    const nlohmann::json parsed = ParseJson(document, "document").ValueOrDie();
    for (const nlohmann::json& field : parsed["fields"]) {
      if (field["name"] == name) return field["id"].get<int64_t>();
    }
    ADD_FAILURE() << "no column " << name << " in " << document;
    return 0;
  }

  void Append() {
    std::vector<int> given = {all_};
    for (const int id : model_.ids()) {
      if (id != all_ && random_.Below(3) > 0) given.push_back(id);
    }
    if (random_.Below(3) == 0 && model_.columns().size() <= 8)
      given.push_back(model_.Add(NewColumn()));
    const size_t first = model_.row_count();
    for (uint64_t i = 1 + random_.Below(40); i > 0; --i) {
      TableModel::Row row;
      for (const int id : given) row[id] = RandomValue(model_.column(id), random_);
      row[all_] = "\"every\"";
      model_.AddRow(std::move(row));
    }
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (const int id : given) {
      arrays.push_back(model_.Values(id, first));
      fields.push_back(arrow::field(model_.column(id).name, arrays.back()->type()));
    }
    const auto rows = static_cast<int64_t>(model_.row_count() - first);
    last_ = "append " + arrow::schema(fields)->ToString();
    INFINO_ASSERT_OK(
        table_->Append(ReaderOf(arrow::RecordBatch::Make(arrow::schema(fields), rows, arrays)))
            .status());
  }

  void Check() {
    SCOPED_TRACE(last_);
    MatchRequest request{.column = "all", .query = "every"};
    request.projection.emplace();
    INFINO_ASSERT_OK_AND_ASSIGN(const auto schema, table_->GetSchema());
    ASSERT_EQ(static_cast<size_t>(schema->num_fields()), model_.columns().size());
    int ordinal = 0;
    for (const auto& [id, column] : model_.columns()) {
      request.projection->push_back(column.name);
      const auto& field = schema->field(ordinal++);
      EXPECT_EQ(field->name(), column.name);
      EXPECT_TRUE(field->type()->Equals(*column.type().type)) << field->ToString();
    }
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, table_->TokenMatch(request));
    ASSERT_EQ(static_cast<size_t>(rows->num_rows()), model_.row_count());
    ordinal = 0;
    for (const auto& [id, column] : model_.columns()) {
      const arrow::ChunkedArray expected(model_.Values(id));
      EXPECT_TRUE(rows->column(ordinal++)->Equals(expected)) << "column " << column.name;
      if (column.text) CheckWords(id, column);
    }
    if (model_.row_count() > 0) CheckSql();
  }

  /// Whether SQL leaves columns of the type out.
  static bool HasWideDecimals(const arrow::DataType& type) {
    if (arrow::is_decimal(type.id())) {
      return static_cast<const arrow::DecimalType&>(type).precision() > 38;
    }
    return std::ranges::any_of(type.fields(),
                               [](const auto& field) { return HasWideDecimals(*field->type()); });
  }

  /// The same by SQL, for the types that it gives back as they are declared.
  void CheckSql() {
    SqlRequest request;
    for (const auto& [id, column] : model_.columns()) {
      if (HasWideDecimals(*column.type().type)) continue;
      request.sql += (request.sql.empty() ? "SELECT \"" : ", \"") + column.name + '"';
    }
    request.sql += " FROM t ORDER BY _id";
    INFINO_ASSERT_OK_AND_ASSIGN(const auto rows, connection_->QuerySql(request));
    int ordinal = 0;
    for (const auto& [id, column] : model_.columns()) {
      if (HasWideDecimals(*column.type().type)) continue;
      const auto& values = rows->column(ordinal++);
      if (!values->type()->Equals(*column.type().type)) continue;
      ++sql_column_count_;
      EXPECT_TRUE(values->Equals(arrow::ChunkedArray(model_.Values(id)))) << column.name;
    }
  }

  void CheckWords(int id, const ModelColumn& column) {
    const std::string word = id == all_ ? "every" : "w" + std::to_string(random_.Below(6));
    const uint64_t expected = model_.CountWord(id, word);
    EXPECT_THAT(table_->Count({.column = column.name, .query = word}), HasValue(expected));
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto hits, table_->Search({.column = column.name, .query = word, .k = 10'000}));
    EXPECT_EQ(static_cast<uint64_t>(hits->num_rows()), expected);
    INFINO_ASSERT_OK_AND_ASSIGN(
        const auto prefixed,
        table_->Search({.column = column.name, .query = word, .is_prefix = true, .k = 10'000}));
    EXPECT_EQ(static_cast<uint64_t>(prefixed->num_rows()), expected);
  }

  Random random_;
  std::string folder_;
  std::shared_ptr<Connection> connection_;
  std::shared_ptr<Table> table_;
  TableModel model_;
  int all_ = 0;
  int sql_column_count_ = 0;
  std::string last_;
};

TEST(EvolutionTest, RowsOfAllSchemasAreReadThroughTheNewestOne) {
  for (uint64_t run = 0; run < 12; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    const TemporaryFolder folder;
    EvolvingTable table(folder.path(), TestSeed() + run);
    for (int step = 0; step < 60; ++step) {
      table.Step();
      if (HasFailure()) return;
    }
    EXPECT_GT(table.sql_column_count(), 100);
  }
}

}  // namespace
}  // namespace infino
