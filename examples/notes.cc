// Makes a table of notes in a folder, adds some, and finds one by its words.
//
//   notes /tmp/notes "quick fox"

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>

#include "infino/connection.h"
#include "infino/error.h"
#include "infino/index_spec.h"
#include "infino/search.h"
#include "infino/table.h"

namespace {

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> SomeNotes(
    const std::shared_ptr<arrow::Schema>& schema) {
  arrow::Int64Builder ids;
  arrow::LargeStringBuilder texts;
  ARROW_RETURN_NOT_OK(ids.AppendValues(std::vector<int64_t>{1, 2, 3}));
  ARROW_RETURN_NOT_OK(texts.AppendValues(
      {"the quick brown fox", "a lazy dog", "how quick a dog can be when it sees a fox"}));
  ARROW_ASSIGN_OR_RAISE(auto id_array, ids.Finish());
  ARROW_ASSIGN_OR_RAISE(auto text_array, texts.Finish());
  const auto batch = arrow::RecordBatch::Make(schema, 3, {id_array, text_array});
  return arrow::RecordBatchReader::Make({batch}, schema);
}

arrow::Status Run(const std::string& folder, const std::string& query) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, infino::Connect(folder));
  auto opened = connection->OpenTable("notes");
  if (infino::IsError(opened.status(), infino::ErrorKind::kNotFound)) {
    const auto schema = arrow::schema(
        {arrow::field("id", arrow::int64()), arrow::field("text", arrow::large_utf8())});
    opened = connection->CreateTable("notes", schema, infino::IndexSpec().Fts("text"));
    ARROW_RETURN_NOT_OK(opened.status());
    ARROW_ASSIGN_OR_RAISE(auto rows, SomeNotes(schema));
    ARROW_RETURN_NOT_OK((*opened)->Append(std::move(rows)).status());
  }
  const infino::TextSearchRequest request{
      .column = "text",
      .query = query,
      .projection = std::vector<std::string>{"id", "text", "score"}};
  ARROW_ASSIGN_OR_RAISE(const auto hits, (*opened)->Search(request));
  std::cout << hits->ToString() << "\n";
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: notes FOLDER QUERY\n";
    return 2;
  }
  const arrow::Status status = Run(argv[1], argv[2]);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
