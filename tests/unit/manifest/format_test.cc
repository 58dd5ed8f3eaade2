#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/json.h"
#include "infino/manifest/part_schema.h"
#include "infino/manifest/root_codec.h"
#include "support/matchers.h"
#include "unit/manifest/format_document.h"

namespace infino {
namespace {

TEST(ManifestFormat, TheSampleRootIsARoot) {
  const std::string sample = CodeBlock(FormatDocument("manifest.md"), "## Example", "json");
  const auto root = DecodeRoot(*arrow::Buffer::FromString(sample), "sample");
  ASSERT_THAT(root, IsOk());
  EXPECT_EQ(root->version, 2U);
  EXPECT_EQ(root->totals.row_count, 3);
  EXPECT_EQ(root->versions.back().operation, "create");
  ASSERT_NE(root->schema.Find("body"), nullptr);
  EXPECT_TRUE(root->schema.Find("body")->text.has_value());
  const auto encoded = EncodeRoot(*root);
  const auto document = ParseJson(sample, "sample");
  ASSERT_THAT(encoded, IsOk());
  ASSERT_THAT(document, IsOk());
  EXPECT_EQ(std::string_view(**encoded), FormatJson(*document));
}

/// The fields of a type as the document lists them: "columns.min binary, may be null".
void ListFields(const arrow::FieldVector& fields, const std::string& parent,
                std::vector<std::string>* out) {
  for (const auto& field : fields) {
    const std::string name = parent + field->name();
    const auto& type = *field->type();
    const bool is_list = type.id() == arrow::Type::LIST;
    const bool is_struct = type.id() == arrow::Type::STRUCT;
    std::string text = is_list ? "list of structs" : (is_struct ? "struct" : type.ToString());
    if (field->nullable()) text += ", may be null";
    out->push_back("| `" + name + "` | " + text + " |");
    if (is_list) ListFields(type.field(0)->type()->fields(), name + ".", out);
    if (is_struct) ListFields(type.fields(), name + ".", out);
  }
}

TEST(ManifestFormat, TheTableOfPartColumnsIsTheSchema) {
  const std::string document = FormatDocument("manifest.md");
  std::vector<std::string> fields;
  ListFields(PartSchema()->fields(), "", &fields);
  size_t at = document.find("\n### Part\n");
  ASSERT_NE(at, std::string::npos);
  for (const std::string& field : fields) {
    const size_t next = document.find(field, at);
    EXPECT_NE(next, std::string::npos) << "missing or out of order: " << field;
    if (next != std::string::npos) at = next;
  }
}

}  // namespace
}  // namespace infino
