#include "cli/input.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <arrow/array.h>
#include <arrow/csv/options.h>
#include <arrow/csv/reader.h>
#include <arrow/io/file.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/stdio.h>
#include <arrow/json/options.h>
#include <arrow/json/reader.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <unistd.h>

namespace infino::cli {

namespace {

constexpr int32_t kBlockBytes = 4 << 20;
constexpr int64_t kBatchRows = 16 << 10;

bool EndsWith(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

arrow::Result<InputFormat> FormatOf(const InputSource& source) {
  if (source.format != InputFormat::kAuto) return source.format;
  const std::vector<std::pair<std::string, InputFormat>> endings{
      {".parquet", InputFormat::kParquet},
      {".csv", InputFormat::kCsv},
      {".jsonl", InputFormat::kJsonLines},
      {".ndjson", InputFormat::kJsonLines},
      {".json", InputFormat::kJsonLines}};
  for (const auto& [ending, format] : endings) {
    if (EndsWith(source.path, ending)) return format;
  }
  return arrow::Status::Invalid("can't tell the format of '", source.path,
                                "' by its name; say --input-format parquet, csv or jsonl");
}

/// Standard input as a file that can be read at any place: Parquet begins at its end.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> SpoolStandardInput() {
  std::FILE* spool = std::tmpfile();
  if (spool == nullptr) return arrow::Status::IOError("can't make a temporary file");
  arrow::io::StdinStream input;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto block, input.Read(kBlockBytes));
    if (block->size() == 0) break;
    const auto size = static_cast<size_t>(block->size());
    if (std::fwrite(block->data(), 1, size, spool) != size) {
      static_cast<void>(std::fclose(spool));
      return arrow::Status::IOError("can't write standard input to a temporary file");
    }
  }
  static_cast<void>(std::fflush(spool));
  const int descriptor = dup(fileno(spool));
  static_cast<void>(std::fclose(spool));
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(descriptor));
  return std::shared_ptr<arrow::io::RandomAccessFile>(std::move(file));
}

arrow::Result<std::vector<int>> ColumnIndices(const arrow::Schema& schema,
                                              const std::vector<std::string>& columns) {
  std::vector<int> indices;
  for (int i = 0; i < schema.num_fields(); ++i) {
    if (columns.empty()) indices.push_back(i);
  }
  for (const std::string& column : columns) {
    const int index = schema.GetFieldIndex(column);
    if (index < 0) {
      return arrow::Status::Invalid("the input has no column '", column, "'; its columns are ",
                                    schema.ToString());
    }
    indices.push_back(index);
  }
  return indices;
}

/// Keeps some columns of each batch.
class SelectingReader final : public arrow::RecordBatchReader {
 public:
  SelectingReader(std::shared_ptr<arrow::RecordBatchReader> base, std::vector<int> indices)
      : base_(std::move(base)), indices_(std::move(indices)) {
    arrow::FieldVector fields;
    for (const int index : indices_) fields.push_back(base_->schema()->field(index));
    schema_ = arrow::schema(std::move(fields));
  }

  [[nodiscard]] std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    ARROW_RETURN_NOT_OK(base_->ReadNext(batch));
    if (*batch == nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(*batch, (*batch)->SelectColumns(indices_));
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> base_;
  std::vector<int> indices_;
  std::shared_ptr<arrow::Schema> schema_;
};

arrow::Result<OpenedInput> OpenParquet(const InputSource& source) {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  if (source.path == "-") {
    ARROW_ASSIGN_OR_RAISE(file, SpoolStandardInput());
  } else {
    ARROW_ASSIGN_OR_RAISE(file, arrow::io::ReadableFile::Open(source.path));
  }
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(file)));
  parquet::ArrowReaderProperties properties;
  properties.set_batch_size(kBatchRows);
  properties.set_use_threads(true);
  properties.set_pre_buffer(false);
  builder.properties(properties);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<parquet::arrow::FileReader> reader, builder.Build());
  OpenedInput opened;
  opened.row_count = static_cast<uint64_t>(reader->parquet_reader()->metadata()->num_rows());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatchReader> rows,
                        reader->GetRecordBatchReader());

  // The batches come from a reader that must stay alive as long as they do.
  struct Owner {
    std::shared_ptr<parquet::arrow::FileReader> reader;
    std::shared_ptr<arrow::RecordBatchReader> rows;
  };

  auto owner = std::make_shared<Owner>(Owner{std::move(reader), std::move(rows)});
  opened.rows = std::shared_ptr<arrow::RecordBatchReader>(owner, owner->rows.get());
  return opened;
}

arrow::Result<std::shared_ptr<arrow::io::InputStream>> OpenStream(const std::string& path) {
  if (path == "-") return std::make_shared<arrow::io::StdinStream>();
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return std::shared_ptr<arrow::io::InputStream>(std::move(file));
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenCsv(
    const InputSource& source, const std::shared_ptr<arrow::Schema>& expected) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenStream(source.path));
  auto read = arrow::csv::ReadOptions::Defaults();
  read.block_size = kBlockBytes;
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.newlines_in_values = true;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  if (expected != nullptr) {
    for (const auto& field : expected->fields()) {
      if (!arrow::is_nested(field->type()->id())) {
        convert.column_types[field->name()] = field->type();
      }
    }
  }
  convert.include_columns = source.columns;
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  convert.null_values = {""};
  ARROW_ASSIGN_OR_RAISE(
      auto reader, arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), input, read,
                                                     parse, convert));
  for (const auto& field : reader->schema()->fields()) {
    const auto wanted = expected == nullptr ? nullptr : expected->GetFieldByName(field->name());
    if (wanted != nullptr && arrow::is_nested(wanted->type()->id())) {
      return arrow::Status::Invalid("column '", field->name(), "' is ", wanted->type()->ToString(),
                                    ", which CSV has no form for; use Parquet or JSON lines");
    }
  }
  return std::shared_ptr<arrow::RecordBatchReader>(std::move(reader));
}

/// Columns as JSON can be read into: lists of one length as lists of any, whose lengths the table
/// checks.
std::shared_ptr<arrow::Schema> ReadableFromJson(const std::shared_ptr<arrow::Schema>& expected) {
  if (expected == nullptr) return nullptr;
  arrow::FieldVector fields;
  for (const auto& field : expected->fields()) {
    const bool is_vector = field->type()->id() == arrow::Type::FIXED_SIZE_LIST;
    fields.push_back(is_vector ? field->WithType(arrow::list(field->type()->field(0))) : field);
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenJsonLines(
    const InputSource& source, const std::shared_ptr<arrow::Schema>& expected) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenStream(source.path));
  auto read = arrow::json::ReadOptions::Defaults();
  read.block_size = kBlockBytes;
  auto parse = arrow::json::ParseOptions::Defaults();
  parse.newlines_in_values = false;
  parse.explicit_schema = ReadableFromJson(expected);
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::json::StreamingReader::Make(input, read, parse));
  return std::shared_ptr<arrow::RecordBatchReader>(std::move(reader));
}

}  // namespace

arrow::Result<OpenedInput> OpenInput(const InputSource& source,
                                     const std::shared_ptr<arrow::Schema>& expected) {
  ARROW_ASSIGN_OR_RAISE(const InputFormat format, FormatOf(source));
  OpenedInput opened;
  if (format == InputFormat::kParquet) {
    ARROW_ASSIGN_OR_RAISE(opened, OpenParquet(source));
  } else if (format == InputFormat::kCsv) {
    ARROW_ASSIGN_OR_RAISE(opened.rows, OpenCsv(source, expected));
  } else {
    ARROW_ASSIGN_OR_RAISE(opened.rows, OpenJsonLines(source, expected));
  }
  if (!source.columns.empty() && format != InputFormat::kCsv) {
    ARROW_ASSIGN_OR_RAISE(auto indices, ColumnIndices(*opened.rows->schema(), source.columns));
    opened.rows = std::make_shared<SelectingReader>(std::move(opened.rows), std::move(indices));
  }
  return opened;
}

const std::vector<std::pair<std::string, InputFormat>>& InputFormatNames() {
  static const std::vector<std::pair<std::string, InputFormat>> names{
      {"parquet", InputFormat::kParquet},
      {"csv", InputFormat::kCsv},
      {"jsonl", InputFormat::kJsonLines}};
  return names;
}

void AddInputOptions(CLI::App& subcommand, InputSource& source) {
  subcommand.add_option("file", source.path, "Parquet, CSV or JSON lines; - for stdin")->required();
  subcommand.add_option("--input-format", source.format, "parquet, csv or jsonl")
      ->transform(CLI::CheckedTransformer(InputFormatNames(), CLI::ignore_case))
      ->option_text("FORMAT");
}

}  // namespace infino::cli
