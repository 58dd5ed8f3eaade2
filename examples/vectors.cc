// Makes a table of colours in memory and finds those nearest to one, alone and together with words.
//
//   vectors 250,120,10 "warm"

#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <arrow/api.h>

#include "infino/connection.h"
#include "infino/index_spec.h"
#include "infino/search.h"
#include "infino/table.h"

namespace {

// An embedding has hundreds of numbers; a colour has three, and zeros up to the least dimension.
constexpr int32_t kDimension = 16;

struct Colour {
  std::string name;
  std::vector<float> numbers;
};

std::shared_ptr<arrow::Schema> ColourSchema() {
  return arrow::schema(
      {arrow::field("name", arrow::large_utf8()),
       arrow::field("colour", arrow::fixed_size_list(arrow::float32(), kDimension))});
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> SomeColours() {
  const std::vector<Colour> colours = {{"warm orange", {255, 140, 0}},
                                       {"warm red", {200, 30, 30}},
                                       {"cold blue", {20, 60, 220}},
                                       {"neutral grey", {128, 128, 128}}};
  arrow::LargeStringBuilder names;
  const auto numbers = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder vectors(arrow::default_memory_pool(), numbers, kDimension);
  for (const Colour& colour : colours) {
    std::vector<float> padded = colour.numbers;
    padded.resize(kDimension);
    ARROW_RETURN_NOT_OK(names.Append(colour.name));
    ARROW_RETURN_NOT_OK(vectors.Append());
    ARROW_RETURN_NOT_OK(numbers->AppendValues(padded));
  }
  ARROW_ASSIGN_OR_RAISE(auto name_array, names.Finish());
  ARROW_ASSIGN_OR_RAISE(auto vector_array, vectors.Finish());
  const auto batch = arrow::RecordBatch::Make(ColourSchema(), static_cast<int64_t>(colours.size()),
                                              {name_array, vector_array});
  return arrow::RecordBatchReader::Make({batch}, ColourSchema());
}

arrow::Status Run(const std::vector<float>& query, const std::string& words) {
  ARROW_ASSIGN_OR_RAISE(const auto connection, infino::Connect("memory://"));
  infino::IndexSpec spec;
  spec.Fts("name").Vector("colour", kDimension, {.metric = "l2sq"});
  ARROW_ASSIGN_OR_RAISE(const auto table, connection->CreateTable("colours", ColourSchema(), spec));
  ARROW_ASSIGN_OR_RAISE(auto rows, SomeColours());
  ARROW_RETURN_NOT_OK(table->Append(std::move(rows)).status());

  const std::vector<std::string> columns = {"name", "score"};
  const infino::VectorSearchRequest nearest{
      .column = "colour", .queries = {query}, .k = 2, .projection = columns};
  ARROW_ASSIGN_OR_RAISE(const auto near, table->VectorSearch(nearest));
  std::cout << "nearest:\n" << near->ToString() << "\n";

  const infino::HybridSearchRequest both{.text_column = "name",
                                         .text = words,
                                         .vector_column = "colour",
                                         .vector = query,
                                         .k = 2,
                                         .projection = columns};
  ARROW_ASSIGN_OR_RAISE(const auto best, table->HybridSearch(both));
  std::cout << "together with '" << words << "':\n" << best->ToString() << "\n";
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: vectors RED,GREEN,BLUE WORDS\n";
    return 2;
  }
  std::vector<float> query;
  std::istringstream numbers(argv[1]);
  for (std::string number; std::getline(numbers, number, ',');) query.push_back(std::stof(number));
  query.resize(kDimension);
  const arrow::Status status = Run(query, argv[2]);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
