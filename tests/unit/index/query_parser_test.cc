#include "infino/index/text/query_parser.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/text_query.h"
#include "infino/index_spec.h"
#include "infino/search.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino::text {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Analyzer& Standard() {
  static const std::unique_ptr<Analyzer> kAnalyzer = Analyzer::Make({}).ValueOrDie();
  return *kAnalyzer;
}

const Analyzer& WithStopWords() {
  static const std::unique_ptr<Analyzer> kAnalyzer = [] {
    TextIndexOptions options;
    options.stopwords = "english";
    return Analyzer::Make(options).ValueOrDie();
  }();
  return *kAnalyzer;
}

ParseOptions AllAllowed() {
  return {.has_positions = true, .column = "body"};
}

// A query as text: clauses separated by blanks, `+` and `-` before them, `*` behind a prefix, a
// phrase in brackets with its positions.
std::string Print(const TextQuery& query) {
  std::string out;
  for (const TextClause& clause : query.clauses) {
    if (!out.empty()) out += ' ';
    if (clause.occur != Occur::kShould) out += clause.occur == Occur::kMust ? '+' : '-';
    const auto terms = query.TermsOf(clause);
    if (clause.kind != ClauseKind::kPhrase) {
      EXPECT_EQ(terms.size(), 1U);
      EXPECT_EQ(terms[0].position, 0U);
      out += query.terms.at(terms[0].term);
      if (clause.kind == ClauseKind::kPrefix) out += '*';
      continue;
    }
    EXPECT_GE(terms.size(), 2U);
    out += '[';
    for (const ClauseTerm& term : terms) {
      if (out.back() != '[') out += ' ';
      out += query.terms.at(term.term) + '@' + std::to_string(term.position);
    }
    out += ']';
  }
  return out;
}

std::string Parsed(std::string_view text, const ParseOptions& options = AllAllowed(),
                   const Analyzer& analyzer = Standard()) {
  const auto query = ParseQuery(text, analyzer, options);
  return query.ok() ? Print(*query) : query.status().ToString();
}

TEST(ParseQuery, MakesAClauseOfEachWord) {
  EXPECT_EQ(Parsed("Red fox"), "red fox");
  EXPECT_EQ(Parsed("well-known fact"), "well known fact");
  EXPECT_EQ(Parsed("日本"), "日 本");
  EXPECT_EQ(Parsed("a\u3000b\u00A0c\nd"), "a b c d");
  EXPECT_EQ(Parsed("b:a"), "b:a");
}

TEST(ParseQuery, KeepsRepeatedWordsApartButTheirTermOnce) {
  INFINO_ASSERT_OK_AND_ASSIGN(const TextQuery query, ParseQuery("a b A", Standard(), {}));
  EXPECT_THAT(query.terms, ElementsAre("a", "b"));
  EXPECT_EQ(Print(query), "a b a");
}

TEST(ParseQuery, ReadsSignsAtTheStartOfARun) {
  EXPECT_EQ(Parsed("fox -dog"), "fox -dog");
  EXPECT_EQ(Parsed("fox +dog"), "fox +dog");
  EXPECT_EQ(Parsed("-dog fox"), "-dog fox");
  EXPECT_EQ(Parsed("fox -well-known cat"), "fox -well -known cat");
  EXPECT_EQ(Parsed("+well-known"), "+well +known");
  EXPECT_EQ(Parsed("fox -😀"), "fox -😀");
  EXPECT_EQ(Parsed("fox\u3000-dog"), "fox -dog");
}

TEST(ParseQuery, TakesOtherSignsForText) {
  EXPECT_EQ(Parsed("C++"), "c");
  EXPECT_EQ(Parsed("a*b"), "a b");
  EXPECT_EQ(Parsed("*"), "");
  EXPECT_EQ(Parsed("- x"), "x");
  EXPECT_EQ(Parsed("x -"), "x");
  EXPECT_EQ(Parsed("+ x"), "x");
  EXPECT_EQ(Parsed("git --amend"), "git amend");
  EXPECT_EQ(Parsed("-+x +-y -(z)"), "x y z");
  EXPECT_EQ(Parsed("x- y+"), "x y");
  EXPECT_EQ(Parsed("a-b a+b"), "a b a b");
  EXPECT_EQ(Parsed("a AND (b OR c)^2 !d ~2"), "a and b or c 2 d 2");
  EXPECT_EQ(Parsed("–x"), "x");
}

TEST(ParseQuery, ReadsPhrases) {
  EXPECT_EQ(Parsed("\"red fox\""), "[red@0 fox@1]");
  EXPECT_EQ(Parsed("foo\"x y\""), "foo [x@0 y@1]");
  EXPECT_EQ(Parsed("\"x y\"foo"), "[x@0 y@1] foo");
  EXPECT_EQ(Parsed("foo -\"x y\" +\"z w\""), "foo -[x@0 y@1] +[z@0 w@1]");
  EXPECT_EQ(Parsed("\"well-known\""), "[well@0 known@1]");
  EXPECT_EQ(Parsed("\"a -b c*\""), "[a@0 b@1 c@2]");
  EXPECT_EQ(Parsed("\"a b\" \"c d\""), "[a@0 b@1] [c@0 d@1]");
  EXPECT_EQ(Parsed("\"a b\"\"c d\""), "[a@0 b@1] [c@0 d@1]");
  EXPECT_EQ(Parsed("\"fox\""), "fox");
  EXPECT_EQ(Parsed("x -\"fox\""), "x -fox");
  EXPECT_EQ(Parsed("x \"\" \"...\""), "x");
  EXPECT_EQ(Parsed("“x y”"), "x y");
}

TEST(ParseQuery, AppliesASignUpToTheFirstQuote) {
  EXPECT_EQ(Parsed("-foo\"x y\""), "-foo [x@0 y@1]");
  EXPECT_EQ(Parsed("foo-\"x y\""), "foo [x@0 y@1]");
  EXPECT_EQ(Parsed("\"x y\"-foo"), "[x@0 y@1] foo");
  EXPECT_EQ(Parsed("a -\"\"b"), "a b");
}

TEST(ParseQuery, TakesAnUnpairedQuoteForText) {
  EXPECT_EQ(Parsed("\"red fox"), "red fox");
  EXPECT_EQ(Parsed("a \"x y\" \" b\"c"), "a [x@0 y@1] b c");
  EXPECT_EQ(Parsed("a\"x\"y\" z"), "a x y z");
  EXPECT_EQ(Parsed("fox -\"x"), "fox x");
}

TEST(ParseQuery, TakesAQuoteBetweenHebrewLettersForText) {
  EXPECT_EQ(Parsed("צה\"ל ארה\"ב"), "צה\"ל ארה\"ב");
  EXPECT_EQ(Parsed("\"דובר צה\"ל\""), "[דובר@0 צה\"ל@1]");
}

TEST(ParseQuery, TakesASignWithACombiningMarkForText) {
  EXPECT_EQ(Parsed("x -\u0651y"), "x -\u0651 y");
  EXPECT_EQ(Parsed("x \"\u0651y z\""), "x \"\u0651 y z");
}

TEST(ParseQuery, ReadsPrefixes) {
  EXPECT_EQ(Parsed("fo*"), "fo*");
  EXPECT_EQ(Parsed("x -fo* +Ba*"), "x -fo* +ba*");
  EXPECT_EQ(Parsed("well-kno*"), "well kno*");
  EXPECT_EQ(Parsed("\"x y\"fo*"), "[x@0 y@1] fo*");
  EXPECT_EQ(Parsed("fo*\"x y\""), "fo [x@0 y@1]");
  EXPECT_EQ(Parsed("fo** C++* *fo fo.*"), "fo c fo fo");
  EXPECT_EQ(Parsed("日本*"), "日 本*");
}

TEST(ParsePrefix, TakesOneWordAndNothingElse) {
  INFINO_ASSERT_OK_AND_ASSIGN(const TextQuery query, ParsePrefix(" PyTh", Standard()));
  EXPECT_EQ(Print(query), "pyth*");
  for (const char* text : {"", "  ", "!", "two words"}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const TextQuery none, ParsePrefix(text, Standard()));
    EXPECT_TRUE(none.empty()) << text;
  }
}

TEST(ParseQuery, MakesEachPositiveClauseRequiredInAndMode) {
  ParseOptions options = AllAllowed();
  options.mode = MatchMode::kAnd;
  EXPECT_EQ(Parsed("a a -b +c \"x y\" d*", options), "+a +a -b +c +[x@0 y@1] +d*");
}

TEST(ParseQuery, FindsNothingInAnEmptyQuery) {
  for (const char* text :
       {"", " ", "\t\u3000", "-", "...", "\"\"", "\"", "-\"\"", "_ * +", "\xFF"}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const TextQuery query, ParseQuery(text, Standard(), {}));
    EXPECT_TRUE(query.empty()) << text;
    EXPECT_TRUE(query.terms.empty()) << text;
  }
}

TEST(ParseQuery, IgnoresStopWords) {
  EXPECT_EQ(Parsed("the of", AllAllowed(), WithStopWords()), "");
  EXPECT_EQ(Parsed("-the", AllAllowed(), WithStopWords()), "");
  EXPECT_EQ(Parsed("the fox -and", AllAllowed(), WithStopWords()), "fox");
  EXPECT_EQ(Parsed("\"the fox\"", {.column = "body"}, WithStopWords()), "fox");
  EXPECT_EQ(Parsed("fox the*", AllAllowed(), WithStopWords()), "fox");
  EXPECT_EQ(Parsed("fox-the*", AllAllowed(), WithStopWords()), "fox");
}

TEST(ParseQuery, KeepsTheGapsOfStopWordsInAPhrase) {
  EXPECT_EQ(Parsed("\"lord of the rings\"", AllAllowed(), WithStopWords()), "[lord@0 rings@3]");
  EXPECT_EQ(Parsed("\"the new york\"", AllAllowed(), WithStopWords()), "[new@0 york@1]");
}

TEST(ParseQuery, RefusesOnlyNegatedTerms) {
  for (const char* text : {"-fox", "-fox -dog", "... -fox", "\"\" -fox", "-\"red fox\"", "-fo*"}) {
    const auto query = ParseQuery(text, Standard(), AllAllowed());
    EXPECT_THAT(query, IsError(ErrorKind::kInvalidArgument)) << text;
    EXPECT_THAT(query.status().ToString(), HasSubstr("at least one positive term is required"));
  }
  EXPECT_THAT(ParseQuery("the -fox", WithStopWords(), {}), IsError(ErrorKind::kInvalidArgument));
}

TEST(ParseQuery, RefusesAPhraseOnAColumnWithoutPositions) {
  ParseOptions options = AllAllowed();
  options.has_positions = false;
  for (const char* text : {"\"red fox\"", "a -\"red fox\"", "\"well-known\""}) {
    const auto query = ParseQuery(text, Standard(), options);
    EXPECT_THAT(query, IsError(ErrorKind::kInvalidArgument)) << text;
    EXPECT_THAT(query.status().ToString(),
                AllOf(HasSubstr("column 'body' has none"), HasSubstr("positions=True")));
  }
  INFINO_EXPECT_OK(ParseQuery("\"fox\"", Standard(), options));
}

TEST(ParseQuery, RefusesTooManyTerms) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += 't' + std::to_string(i) + ' ';
  const auto query = ParseQuery(text, Standard(), {.column = "body"});
  EXPECT_THAT(query, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(query.status().ToString(), AllOf(HasSubstr("65536"), HasSubstr("body")));
}

TEST(ParseQuery, CountsDistinctTermsOnly) {
  std::string text;
  for (int i = 0; i < 65'536; ++i) text += "a t" + std::to_string(i % 65'535) + ' ';
  INFINO_ASSERT_OK_AND_ASSIGN(const TextQuery query, ParseQuery(text, Standard(), {}));
  EXPECT_EQ(query.terms.size(), 65'536U);
  EXPECT_EQ(query.clauses.size(), 131'072U);
  EXPECT_THAT(ParseQuery(text + "b", Standard(), {}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(ParseQuery("a a a", Standard(), {.column = "body", .max_clauses = 2}),
              IsError(ErrorKind::kInvalidArgument));
}

// What holds of any query, and of what it may contain.
void CheckRandomQuery(const std::string& text, const ParseOptions& options) {
  const auto query = ParseQuery(text, Standard(), options);
  if (!query.ok()) {
    const std::string message = query.status().ToString();
    ASSERT_THAT(query, IsError(ErrorKind::kInvalidArgument)) << text;
    ASSERT_TRUE(message.find("at least one positive term") != std::string::npos ||
                (!options.has_positions && message.find("positions=True") != std::string::npos))
        << text << ": " << message;
    return;
  }
  // Signs and quotes are no part of tokens, so all words of the text come, in order.
  std::vector<std::string> expected;
  INFINO_ASSERT_OK(
      Standard().Analyze(text, [&expected](Token token) { expected.emplace_back(token.text); }));
  std::vector<std::string> terms;
  for (const ClauseTerm& term : query->clause_terms) terms.push_back(query->terms.at(term.term));
  ASSERT_EQ(terms, expected) << text;
  size_t next = 0;
  for (const TextClause& clause : query->clauses) {
    ASSERT_EQ(clause.terms_begin, next) << text;
    next = clause.terms_end;
  }
  ASSERT_EQ(next, query->clause_terms.size()) << text;
}

TEST(ParseQuery, AnalysesRandomTextAsDocumentsAre) {
  const std::vector<std::string> alphabet = {
      "a", "B", "é", "fox", "1", "\"", "\"", "-", "-", "+",  "*", "'",  ".",      ":",
      "(", "_", " ", " ",   " ", "\t", "日", "א", "ב", "😀", "C", "\\", "\u00A0", "\u202F"};
  Random random(TestSeed());
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    for (uint64_t length = random.Below(20); length > 0; --length) {
      text += alphabet[random.Below(alphabet.size())];
    }
    ParseOptions options = AllAllowed();
    options.has_positions = random.Below(2) == 0;
    if (random.Below(2) == 0) options.mode = MatchMode::kAnd;
    CheckRandomQuery(text, options);
    if (HasFatalFailure()) return;
  }
}

TEST(ParseQuery, SurvivesRandomBytes) {
  Random random(TestSeed());
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (uint64_t length = random.Below(40); length > 0; --length) {
      text += static_cast<char>(random.Below(256));
    }
    CheckRandomQuery(text, AllAllowed());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace infino::text
