#include "infino/commit/schema_growth.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"
#include "infino/superfile/table_schema.h"
#include "support/matchers.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

TableSchema SchemaOf(const arrow::FieldVector& fields) {
  TableSchema schema;
  for (const auto& field : fields) {
    schema.columns.push_back({.field_id = ++schema.last_field_id, .field = field});
  }
  return schema;
}

TableSchema Base() {
  return SchemaOf(
      {arrow::field("a", arrow::int32(), /*nullable=*/false), arrow::field("b", arrow::utf8())});
}

TableSchema Grown(const TableSchema& schema, const arrow::FieldVector& fields) {
  return GrowSchema(schema, *arrow::schema(fields)).ValueOrDie();
}

TableSchema Dropped(TableSchema schema, const std::string& name) {
  const TableColumn* column = schema.Find(name);
  const int32_t field_id = column->field_id;
  std::erase_if(schema.columns, [&](const auto& each) { return each.field_id == field_id; });
  schema.dropped_field_ids.insert(std::ranges::upper_bound(schema.dropped_field_ids, field_id),
                                  field_id);
  ++schema.schema_id;
  return schema;
}

TEST(GrowSchema, AddsWhatIsUnknownAsNullable) {
  const TableSchema grown =
      Grown(Base(), {arrow::field("b", arrow::int8()),
                     arrow::field("x", arrow::date32(), /*nullable=*/false),
                     arrow::field("nothing", arrow::null()), arrow::field("_id", arrow::int8()),
                     arrow::field("y", arrow::list(arrow::utf8()))});
  ASSERT_EQ(grown.columns.size(), 4U);
  EXPECT_EQ(grown.schema_id, 2);
  EXPECT_EQ(grown.last_field_id, 2);
  EXPECT_TRUE(grown.columns[1].field->Equals(arrow::field("b", arrow::utf8())));
  EXPECT_TRUE(grown.columns[2].field->Equals(arrow::field("x", arrow::date32())));
  EXPECT_TRUE(grown.columns[3].field->Equals(arrow::field("y", arrow::list(arrow::utf8()))));
  EXPECT_GE(grown.columns[2].field_id, kNamedFieldIdMin);
  EXPECT_NE(grown.columns[2].field_id, grown.columns[3].field_id);
  EXPECT_EQ(Grown(Base(), {arrow::field("a", arrow::int8())}).schema_id, 1);
}

TEST(GrowSchema, AnIdDependsOnTheNameAloneUntilItIsDropped) {
  const int32_t first = Grown(Base(), {arrow::field("x", arrow::int8())}).Find("x")->field_id;
  const TableSchema other =
      Grown(SchemaOf({}), {arrow::field("y", arrow::int8()), arrow::field("x", arrow::utf8())});
  EXPECT_EQ(other.Find("x")->field_id, first);
  const TableSchema dropped = Dropped(other, "x");
  const int32_t second = Grown(dropped, {arrow::field("x", arrow::int8())}).Find("x")->field_id;
  EXPECT_NE(second, first);
  EXPECT_GE(second, kNamedFieldIdMin);
}

TEST(GrowSchema, RefusesWhatATableCanNotHave) {
  EXPECT_THAT(
      GrowSchema(Base(), *arrow::schema({arrow::field("x", arrow::month_day_nano_interval())})),
      IsError(ErrorKind::kInvalidArgument));
  TableSchema full = Base();
  full.columns_max = 2;
  const auto refused = GrowSchema(full, *arrow::schema({arrow::field("x", arrow::int8())}));
  EXPECT_THAT(refused, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(refused.status().message(), HasSubstr("max_fields=2"));
  full.columns_max = 1;
  EXPECT_THAT(GrowSchema(full, *arrow::schema({arrow::field("a", arrow::int8())})), IsOk());
}

TEST(SchemaForFiles, IsTheOneThereIsUnlessTheFilesHaveMore) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto same, SchemaForFiles(Base(), Base()));
  EXPECT_FALSE(same.has_value());
  TableSchema now = Grown(Base(), {arrow::field("y", arrow::int8())});
  const TableSchema written = Grown(Base(), {arrow::field("x", arrow::int8())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto next, SchemaForFiles(now, written));
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->schema_id, now.schema_id + 1);
  ASSERT_EQ(next->columns.size(), 4U);
  EXPECT_EQ(next->columns[3].field_id, written.columns[2].field_id);
  // What an append was built with is still right after columns went and came.
  INFINO_ASSERT_OK_AND_ASSIGN(const auto shared, SchemaForFiles(*next, written));
  EXPECT_FALSE(shared.has_value());
  now.columns_max = 3;
  EXPECT_THAT(SchemaForFiles(now, written), IsError(ErrorKind::kInvalidArgument));
}

TEST(SchemaForFiles, AColumnThatWasDroppedIsLost) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto base, SchemaForFiles(Dropped(Base(), "b"), Base()));
  EXPECT_FALSE(base.has_value());
  const TableSchema written = Grown(Base(), {arrow::field("x", arrow::int8())});
  INFINO_ASSERT_OK_AND_ASSIGN(const auto added, SchemaForFiles(Dropped(written, "x"), written));
  EXPECT_FALSE(added.has_value());
}

TEST(SchemaForFiles, RefusesFilesThatTheSchemaCanNotRead) {
  const auto with_type = [](const TableSchema& schema, const std::string& name,
                            const arrow::Field& field) {
    TableSchema changed = schema;
    for (TableColumn& column : changed.columns) {
      if (column.field->name() == name) column.field = field.Copy();
    }
    return changed;
  };
  const TableSchema now = with_type(Base(), "b", *arrow::field("b", arrow::large_utf8()));
  EXPECT_THAT(SchemaForFiles(now, Base()), IsOk());
  const TableSchema written = Grown(Base(), {arrow::field("x", arrow::int64())});
  EXPECT_THAT(SchemaForFiles(with_type(written, "x", *arrow::field("x", arrow::utf8())), written),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(SchemaForFiles(with_type(written, "x", *arrow::field("x", arrow::int8())), written),
              IsError(ErrorKind::kConflict));
  EXPECT_THAT(
      SchemaForFiles(with_type(Base(), "b", *arrow::field("b", arrow::utf8(), false)), Base()),
      IsError(ErrorKind::kConflict));
  TableSchema more = Base();
  more.columns.push_back(
      {.field_id = ++more.last_field_id, .field = arrow::field("c", arrow::int8(), false)});
  EXPECT_THAT(SchemaForFiles(more, Base()), IsError(ErrorKind::kConflict));
  TableSchema taken = Base();
  taken.columns.push_back(
      {.field_id = ++taken.last_field_id, .field = arrow::field("x", arrow::int64())});
  EXPECT_THAT(SchemaForFiles(taken, written), IsError(ErrorKind::kConflict));
}

}  // namespace
}  // namespace infino
