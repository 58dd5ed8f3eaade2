#include "cli/vector_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/io/interfaces.h>
#include <arrow/io/stdio.h>
#include <arrow/result.h>
#include <arrow/status.h>

namespace infino::cli {

namespace {

constexpr std::string_view kBetweenNumbers = ", \t\r\n[]";

/// Gathers vectors from the pieces of a text, in order.
class VectorParser {
 public:
  void Open() {
    EndVector();
    ++depth_;
  }

  arrow::Status Close() {
    if (depth_ == 0) return arrow::Status::Invalid("a ']' has no '['");
    EndVector();
    --depth_;
    return arrow::Status::OK();
  }

  void EndLine() {
    if (depth_ == 0) EndVector();
  }

  arrow::Status Add(std::string_view word) {
    std::string_view digits = word;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
    double number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error == std::errc::invalid_argument || stop != end) {
      return arrow::Status::Invalid("'", word.substr(0, 40), "' is no number (number ",
                                    numbers_.size() + 1, " of vector ", vectors_.size() + 1,
                                    "); write numbers with commas or blanks between them");
    }
    // Out of range is also what is too small to tell from 0.
    const bool is_tiny = error == std::errc::result_out_of_range &&
                         digits.find_first_of("eE") != std::string_view::npos &&
                         digits.find("-", 1) != std::string_view::npos;
    if ((error == std::errc::result_out_of_range && !is_tiny) ||
        (std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max())) {
      return arrow::Status::Invalid("'", word.substr(0, 40), "' is out of range (number ",
                                    numbers_.size() + 1, " of vector ", vectors_.size() + 1, ")");
    }
    numbers_.push_back(static_cast<float>(number));
    return arrow::Status::OK();
  }

  arrow::Result<std::vector<std::vector<float>>> Finish() {
    if (depth_ > 0) return arrow::Status::Invalid("a '[' has no ']'");
    EndVector();
    if (vectors_.empty()) return arrow::Status::Invalid("there is no number");
    return std::move(vectors_);
  }

 private:
  void EndVector() {
    if (!numbers_.empty()) vectors_.push_back(std::exchange(numbers_, {}));
  }

  std::vector<std::vector<float>> vectors_;
  std::vector<float> numbers_;
  size_t depth_ = 0;
};

arrow::Result<std::string> ReadAll(arrow::io::InputStream& input) {
  constexpr int64_t kBlockBytes = 1 << 20;
  std::string text;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto block, input.Read(kBlockBytes));
    if (block->size() == 0) return text;
    text += block->ToString();
  }
}

}  // namespace

arrow::Result<std::vector<std::vector<float>>> ParseVectors(std::string_view text) {
  VectorParser parser;
  size_t place = 0;
  while (place < text.size()) {
    const size_t end = text.find_first_of(kBetweenNumbers, place);
    if (end != place) {
      ARROW_RETURN_NOT_OK(parser.Add(text.substr(place, end - place)));
      place = end == std::string_view::npos ? text.size() : end;
      continue;
    }
    if (text[place] == '[') parser.Open();
    if (text[place] == ']') ARROW_RETURN_NOT_OK(parser.Close());
    if (text[place] == '\n') parser.EndLine();
    ++place;
  }
  return parser.Finish();
}

arrow::Result<std::string> ReadArgument(const std::string& argument) {
  if (argument == "-") {
    arrow::io::StdinStream input;
    return ReadAll(input);
  }
  if (argument.empty() || argument.front() != '@') return argument;
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(argument.substr(1)));
  return ReadAll(*file);
}

}  // namespace infino::cli
