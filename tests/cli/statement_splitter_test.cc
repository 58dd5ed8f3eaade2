#include "cli/statement_splitter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/scalar.h>
#include <arrow/table.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/connection.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// All statements of a text that comes in pieces of `piece_size`.
std::vector<SqlText> SplitInPieces(std::string_view text, size_t piece_size) {
  StatementSplitter splitter;
  std::vector<SqlText> statements;
  for (size_t begin = 0; begin < text.size(); begin += piece_size) {
    for (SqlText& statement : splitter.Add(text.substr(begin, piece_size))) {
      statements.push_back(std::move(statement));
    }
  }
  if (std::optional<SqlText> last = splitter.Finish()) statements.push_back(*last);
  return statements;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> texts;
  for (const SqlText& statement : SplitInPieces(text, std::max<size_t>(1, text.size()))) {
    texts.push_back(statement.text);
  }
  return texts;
}

TEST(StatementSplitter, CutsAtSemicolons) {
  EXPECT_THAT(Split("select 1; select 2 ;select 3"),
              ElementsAre("select 1", "select 2", "select 3"));
  EXPECT_THAT(Split(" \n;; select 1;\n;"), ElementsAre("select 1"));
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split(" ; -- nothing;\n /* ; */"), IsEmpty());
}

TEST(StatementSplitter, KeepsSemicolonsInQuotes) {
  for (const char* const statement : {
           "select 'a;b'",
           "select 'it''s; here'",
           "select ';'';'",
           R"(select 'a\')",  // no escape without E
           R"(select E'it\'s; here')",
           R"(select e'\\')",
           R"(select E'a'';\'b')",
           R"(select name'\')",  // the e belongs to a word
           R"(select "a;b""c;" from t)",
           "select $$a;b$$",
           "select $a$ ;$$; $b$; $a$",
           "select $é1$;$é1$",
           "select '--', ';'",
           "select 'multi;\nline'",
       }) {
    EXPECT_THAT(Split(std::string(statement) + ";select 2"), ElementsAre(statement, "select 2"));
  }
}

TEST(StatementSplitter, KeepsSemicolonsInComments) {
  for (const char* const statement : {
           "select 1 -- one; more\n + 1",
           "select /* ; */ 1",
           "select /* a /* nested; */ ; */ 1",
           "select /*/ ; */ 1",
           "select /**/ 1",
           "select 1 /* it's; */",
           "select 1 -- it's;\n",
       }) {
    std::string want = statement;
    want.erase(want.find_last_not_of('\n') + 1);
    EXPECT_THAT(Split(std::string(statement) + ";select 2"), ElementsAre(want, "select 2"));
  }
  EXPECT_THAT(Split("-- first;\n/* then; */ select 1; -- last"), ElementsAre("select 1"));
}

TEST(StatementSplitter, TakesOperatorsAndParametersForPlainText) {
  EXPECT_THAT(Split("select 1 - -2; select 4 / 2; select 2*/**/3"),
              ElementsAre("select 1 - -2", "select 4 / 2", "select 2*/**/3"));
  EXPECT_THAT(Split("select $1;select $2"), ElementsAre("select $1", "select $2"));
  EXPECT_THAT(Split("select $name;select $name"), ElementsAre("select $name", "select $name"));
  EXPECT_THAT(Split("select a$b$c;select 2"), ElementsAre("select a$b$c", "select 2"));
  EXPECT_THAT(Split("-1;/2"), ElementsAre("-1", "/2"));
}

TEST(StatementSplitter, KnowsWhetherAStatementHasBegun) {
  StatementSplitter splitter;
  EXPECT_FALSE(splitter.has_statement());
  EXPECT_THAT(splitter.Add("-- a remark\n"), IsEmpty());
  EXPECT_FALSE(splitter.has_statement());
  EXPECT_FALSE(splitter.is_enclosed());
  EXPECT_THAT(splitter.Add("/* another"), IsEmpty());
  EXPECT_FALSE(splitter.has_statement());
  EXPECT_TRUE(splitter.is_enclosed());
  EXPECT_THAT(splitter.Add("*/ select 'a"), IsEmpty());
  EXPECT_TRUE(splitter.has_statement());
  EXPECT_TRUE(splitter.is_enclosed());
  EXPECT_THAT(splitter.Add("'"), IsEmpty());
  EXPECT_TRUE(splitter.has_statement());
  EXPECT_FALSE(splitter.is_enclosed());
  splitter.Reset();
  EXPECT_FALSE(splitter.has_statement());
  EXPECT_EQ(splitter.Finish(), std::nullopt);
}

TEST(StatementSplitter, CountsLines) {
  const std::string text = "\n-- one\nselect 1;\n\nselect\n'a\nb'; select 3;\n/*\n*/select 4";
  std::vector<uint64_t> lines;
  for (const SqlText& statement : SplitInPieces(text, 3)) lines.push_back(statement.line);
  EXPECT_THAT(lines, ElementsAre(3, 5, 7, 9));
}

/// Random SELECTs of one text each, whose value is known, between blanks and comments.
class RandomScript {
 public:
  explicit RandomScript(uint64_t seed) : random_(seed) {}

  void AddStatement() {
    text_ += Filling() + "select" + Gap() + Literal() + Gap() + "as" + Gap() +
             Pick({"v", "\"v\"", "\"a;b\"", "v$a$", "\"--\"\"\""}) + Filling() + ";";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] const std::vector<std::string>& values() const { return values_; }

  uint64_t Below(uint64_t bound) { return random_.Below(bound); }

 private:
  std::string Pick(const std::vector<std::string>& choices) {
    return choices[random_.Below(choices.size())];
  }

  /// A text of what means something to the splitter.
  std::string Value() {
    std::string value;
    for (uint64_t i = random_.Below(8); i > 0; --i) {
      value += Pick(
          {"'", "\"", ";", "--", "/*", "*/", "$", "$$", "$a$", "\\", "\n", "e", "é", " ", "-"});
    }
    return value;
  }

  static std::string Replaced(const std::string& text, char what, const std::string& by) {
    std::string replaced;
    for (const char c : text) replaced += c == what ? by : std::string(1, c);
    return replaced;
  }

  std::string Literal() {
    const std::string value = Value();
    values_.push_back(value);
    switch (random_.Below(3)) {
      case 0:
        return "'" + Replaced(value, '\'', "''") + "'";
      case 1:
        return Pick({"E'", "e'"}) +
               Replaced(Replaced(value, '\\', R"(\\)"), '\'', Pick({R"(\')", "''"})) + "'";
      default:
        return "$_1$" + value + "$_1$";
    }
  }

  std::string Comment() {
    if (random_.Below(2) == 0) return "--" + Replaced(Value(), '\n', " ") + "\n";
    std::string inside = Value();
    // What would open or close the comment is another comment, or nothing.
    for (const char* const sign : {"/*", "*/"}) {
      for (size_t at = inside.find(sign); at != std::string::npos; at = inside.find(sign)) {
        inside.erase(at, 2);
      }
    }
    if (inside.ends_with('/') || inside.ends_with('*')) inside += ' ';
    if (random_.Below(3) == 0) inside += "/* ; ' */";
    return "/* " + inside + " */";
  }

  std::string Filling() {
    std::string filling;
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      filling += random_.Below(2) == 0 ? Pick({" ", "\n", "\t"}) : Comment();
    }
    return filling;
  }

  std::string Gap() { return " " + Filling() + " "; }

  Random random_;
  std::string text_;
  std::vector<std::string> values_;
};

TEST(StatementSplitter, AgreesWithTheParserOnRandomScripts) {
  const auto connection = Connect("memory://").ValueOrDie();
  for (uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    RandomScript script(TestSeed() + round);
    for (int i = 0; i < 10; ++i) script.AddStatement();
    const auto statements = SplitInPieces(script.text(), 1 + script.Below(20));
    ASSERT_EQ(statements.size(), script.values().size()) << script.text();
    for (size_t i = 0; i < statements.size(); ++i) {
      const auto result = connection->QuerySql({.sql = statements[i].text});
      ASSERT_THAT(result, IsOk()) << statements[i].text;
      const auto value = (*result)->column(0)->GetScalar(0).ValueOrDie();
      EXPECT_EQ(value->ToString(), script.values()[i]) << statements[i].text;
      // It begins on the line that is said.
      std::string_view rest = script.text();
      for (uint64_t line = 1; line < statements[i].line; ++line) {
        rest.remove_prefix(rest.find('\n') + 1);
      }
      const size_t begin = rest.find(statements[i].text);
      ASSERT_NE(begin, std::string_view::npos);
      EXPECT_EQ(rest.substr(0, begin).find('\n'), std::string_view::npos) << statements[i].text;
    }
  }
}

TEST(StatementSplitter, DoesNotDependOnThePieces) {
  Random random(TestSeed());
  const std::vector<std::string> pieces = {"'", "\"", ";", "-",  "/",  "*", "$",
                                           "a", "E",  "1", "\\", "\n", " ", "é"};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += pieces[random.Below(pieces.size())];
    const auto whole = SplitInPieces(text, text.size());
    const auto cut = SplitInPieces(text, 1 + random.Below(3));
    ASSERT_EQ(whole.size(), cut.size()) << text;
    for (size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(whole[i].text, cut[i].text) << text;
      EXPECT_EQ(whole[i].line, cut[i].line) << text;
    }
  }
}

}  // namespace
}  // namespace infino::cli
