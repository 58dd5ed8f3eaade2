#include "infino/sql/reserved_by.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "duckdb/common/string_util.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/simplified_token.hpp"

namespace infino::sql {

std::string QuoteBy(const std::string& text) {
  static const std::set<std::string> kBefore = {"group", "order", "partition", "sort"};
  const auto tokens = duckdb::Parser::Tokenize(text);
  std::string quoted;
  std::string previous;
  size_t copied = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t begin = tokens[i].start;
    const size_t next = i + 1 < tokens.size() ? tokens[i + 1].start : text.size();
    std::string word = text.substr(begin, next - begin);
    word = duckdb::StringUtil::Lower(word.substr(0, word.find_first_of(" \t\r\n;,()-/*")));
    const bool is_word = tokens[i].type == duckdb::SimplifiedTokenType::SIMPLIFIED_TOKEN_KEYWORD ||
                         tokens[i].type == duckdb::SimplifiedTokenType::SIMPLIFIED_TOKEN_IDENTIFIER;
    if (is_word && word == "by" && !kBefore.contains(previous)) {
      quoted += text.substr(copied, begin - copied) + "\"" + text.substr(begin, 2) + "\"";
      copied = begin + 2;
    }
    previous = std::move(word);
  }
  return quoted + text.substr(copied);
}

}  // namespace infino::sql
