#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/query_parser.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/text/word_break.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"
#include "infino/search.h"
#include "unit/index/text_fixture.h"

namespace infino::text {
namespace {

void Expect(bool holds) {
  if (!holds) std::abort();
}

constexpr size_t kDocumentsMax = 500;
constexpr size_t kTextBytesMax = 200'000;
constexpr size_t kWordBytesMax = 200;  // The analyzer cuts none so short.
constexpr size_t kHeadBytes = 4;

/// What the input's first bytes say.
struct Setting {
  explicit Setting(ByteSpan head) {
    const unsigned bits = head[0];
    if ((bits & 1U) != 0) options.stopwords = "english";
    if ((bits & 2U) != 0) options.stemmer = "english";
    options.positions = (bits & 4U) == 0;
    parse.has_positions = options.positions;
    parse.mode = (bits & 8U) != 0 ? MatchMode::kAnd : MatchMode::kOr;
    typed = (bits & 16U) != 0;
    superfiles = 1 + (bits >> 5U) % 4;
    copies = 1 + size_t{head[1]};
    constexpr std::array<uint64_t, 6> kKs = {10,  1, 2,
                                             100, 0, std::numeric_limits<uint64_t>::max()};
    search.k = kKs[head[2] % kKs.size()];
    constexpr std::array<double, 4> kK1s = {1.2, 0.0, 0.4, 3.0};
    constexpr std::array<double, 4> kBs = {0.75, 0.0, 0.3, 1.0};
    search.k1 = kK1s[head[3] % 4];
    search.b = kBs[head[3] / 4 % 4];
  }

  TextIndexOptions options;
  ParseOptions parse;
  TextSearchOptions search;
  bool typed = false;  ///< The query stands as typed; else its bytes say how to make one.
  size_t superfiles = 1;
  size_t copies = 1;
};

std::vector<std::string> Pieces(std::string_view text) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

/// The texts, each several times, some of them with another behind them; an empty one is a null.
Corpus DocumentsOf(const std::vector<std::string>& texts, size_t copies) {
  Corpus corpus;
  size_t bytes = 0;
  for (size_t i = 0; i < texts.size() * copies && i < kDocumentsMax; ++i) {
    std::string text = texts[i % texts.size()];
    const size_t copy = i / texts.size();
    if (copy % 3 == 1) text += ' ' + texts[copy % texts.size()];
    bytes += text.size();
    if (bytes > kTextBytesMax) break;
    corpus.push_back(text.empty() ? std::nullopt : std::optional(std::move(text)));
  }
  return corpus;
}

/// The terms of a text by place; empty ones where the analyzer removed a word.
std::vector<std::string> TermsOf(const Analyzer& analyzer, std::string_view utf8) {
  std::vector<std::string> terms;
  Check(analyzer.Analyze(utf8, [&terms](Token token) {
    terms.resize(token.position);
    terms.emplace_back(token.text);
  }));
  return terms;
}

/// Whether `text` is one word that a query may have as it stands.
bool IsPlainWord(const Analyzer& standard, const std::string& text) {
  if (text.empty() || text.size() > kWordBytesMax) return false;
  const WordBreak first = WordBreaker::Get().TraitsOf(DecodeChar(text, 0).value).word_break();
  if (first == WordBreak::kExtend || first == WordBreak::kZwj) return false;
  return TermsOf(standard, text) == std::vector{text};
}

/// A query together with its text: what the parser has to find.
class Composer {
 public:
  /// `words` are in the order of the texts, so that neighbours make phrases that are there.
  Composer(const Setting& setting, const Analyzer& analyzer, std::vector<std::string> words)
      : setting_(setting), analyzer_(analyzer), words_(std::move(words)) {}

  /// Two bytes a clause, each 1 more than what it says, because a NUL would end the recipe: its
  /// sign and kind, and the word.
  void Compose(std::string_view recipe) {
    for (size_t i = 0; i + 1 < recipe.size() && i < 32 && !words_.empty(); i += 2) {
      const size_t how = static_cast<unsigned char>(recipe[i]) - size_t{1};
      const size_t at = static_cast<unsigned char>(recipe[i + 1]) - size_t{1};
      AddClause(how, at % words_.size());
    }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] const TextQuery& query() const { return query_; }

  [[nodiscard]] bool IsRefused() const {
    return needs_positions_ || (!query_.clauses.empty() && !has_positive_);
  }

 private:
  void AddClause(size_t how, size_t at) {
    Occur occur = std::array{Occur::kShould, Occur::kMust, Occur::kMustNot}[how % 3];
    if (!text_.empty()) text_ += ' ';
    if (occur != Occur::kShould) text_ += occur == Occur::kMust ? '+' : '-';
    if (occur == Occur::kShould && setting_.parse.mode == MatchMode::kAnd) occur = Occur::kMust;
    const size_t kind = how / 3 % 4;
    if (kind == 1) return AddPrefix(at, how / 12, occur);
    if (kind == 0) return AddTerms(words_[at], ClauseKind::kTerm, occur);
    // Words that follow each other, or the same one again.
    std::string phrase = words_[at];
    for (size_t i = 1; i <= how / 12 % 3; ++i) {
      phrase += ' ' + words_[kind == 2 ? (at + i) % words_.size() : at];
    }
    AddTerms(phrase, ClauseKind::kPhrase, occur);
  }

  void AddPrefix(size_t at, size_t length, Occur occur) {
    const std::string& word = words_[at];
    size_t end = 0;
    for (size_t i = 0; i <= length && end < word.size(); ++i) end += DecodeChar(word, end).size;
    const std::string begin = word.substr(0, end);
    AddTerms(IsPlainWord(*standard_, begin) ? begin : word, ClauseKind::kPrefix, occur);
  }

  void AddTerms(const std::string& text, ClauseKind kind, Occur occur) {
    text_ += kind == ClauseKind::kPhrase ? '"' + text + '"' : text;
    if (kind == ClauseKind::kPrefix) text_ += '*';
    const auto begin = static_cast<uint32_t>(query_.clause_terms.size());
    const std::vector<std::string> terms = TermsOf(analyzer_, text);
    uint32_t gaps = 0;  // Stop words in front.
    for (size_t place = 0; place < terms.size(); ++place) {
      if (terms[place].empty()) {
        gaps += query_.clause_terms.size() == begin ? 1 : 0;
        continue;
      }
      query_.clause_terms.push_back(
          {.term = TermOf(terms[place]), .position = static_cast<uint32_t>(place) - gaps});
    }
    const auto end = static_cast<uint32_t>(query_.clause_terms.size());
    if (begin == end) return;
    if (kind == ClauseKind::kPhrase && end - begin == 1) kind = ClauseKind::kTerm;
    if (kind == ClauseKind::kPhrase && !setting_.options.positions) needs_positions_ = true;
    has_positive_ = has_positive_ || occur != Occur::kMustNot;
    query_.clauses.push_back({kind, occur, begin, end});
  }

  uint32_t TermOf(const std::string& term) {
    const auto found = std::ranges::find(query_.terms, term);
    const auto ordinal = static_cast<uint32_t>(found - query_.terms.begin());
    if (found == query_.terms.end()) query_.terms.push_back(term);
    return ordinal;
  }

  const Setting& setting_;    // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): local
  const Analyzer& analyzer_;  // NOLINT(cppcoreguidelines-avoid-const-or-ref-data-members): local
  std::unique_ptr<Analyzer> standard_ = Analyzer::Make({}).ValueOrDie();
  std::vector<std::string> words_;
  std::string text_;
  TextQuery query_;
  bool needs_positions_ = false;
  bool has_positive_ = false;
};

/// The query of the input's last piece, or nothing if it is refused.
std::optional<TextQuery> QueryOfInput(const Setting& setting, const Analyzer& analyzer,
                                      const std::vector<std::string>& texts,
                                      const std::string& piece) {
  if (setting.typed) {
    const auto query = ParseQuery(piece, analyzer, setting.parse);
    if (query.ok()) return *query;
    Expect(IsError(query.status(), ErrorKind::kInvalidArgument));
    return std::nullopt;
  }
  const std::unique_ptr<Analyzer> standard = Analyzer::Make({}).ValueOrDie();
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (std::string& word : TermsOf(*standard, text)) {
      if (words.size() < 256 && IsPlainWord(*standard, word)) words.push_back(std::move(word));
    }
  }
  Composer composer(setting, analyzer, std::move(words));
  composer.Compose(piece);
  const auto query = ParseQuery(composer.text(), analyzer, setting.parse);
  Expect(query.ok() != composer.IsRefused());
  if (!query.ok()) return std::nullopt;
  Expect(*query == composer.query());
  return *query;
}

void CheckSearches(const Setting& setting, const Corpus& corpus, const Oracle& oracle,
                   const TextQuery& query) {
  Random random(corpus.size());
  const Split split = SplitUp(random, corpus, setting.superfiles, setting.options);
  const std::vector<DocId> matches = oracle.Match(query);
  std::vector<DocId> found;
  uint64_t count = 0;
  for (size_t i = 0; i < split.indexes.size(); ++i) {
    for (const DocId doc : MatchAll(split.indexes[i], query).ValueOrDie()) {
      found.push_back(split.first_docs[i] + doc);
    }
    count += CountAll(split.indexes[i], query).ValueOrDie();
  }
  Expect(found == matches && count == matches.size());
  const std::vector<ScoredDoc> best =
      oracle.Rank(query, setting.search.k1, setting.search.b, setting.search.k);
  PostingsCache cache(1 << 20);
  TextSearchOptions options = setting.search;
  options.prune = false;
  Expect(RankSplit(split, query, options, random) == best);
  options.prune = true;
  options.cache = &cache;
  Expect(RankSplit(split, query, options, random) == best);  // Fills the cache.
  Expect(RankSplit(split, query, options, random) == best);
}

}  // namespace
}  // namespace infino::text

/// Four bytes of settings, then pieces with NULs between them: texts, and the query, as typed or as
/// a recipe. The parser must find what was composed; matches, counts and ranks must be the
/// textbook's, whatever the number of superfiles.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace text = infino::text;
  if (size < text::kHeadBytes) return 0;
  const infino::ByteSpan all(data, size);
  const text::Setting setting(all.first(text::kHeadBytes));
  std::vector<std::string> pieces = text::Pieces(infino::AsText(all.subspan(text::kHeadBytes)));
  const std::string last = pieces.back();
  pieces.pop_back();
  if (pieces.empty()) return 0;
  const auto analyzer = text::Analyzer::Make(setting.options).ValueOrDie();
  const auto query = text::QueryOfInput(setting, *analyzer, pieces, last);
  if (!query) return 0;
  const text::Corpus corpus = text::DocumentsOf(pieces, setting.copies);
  std::vector<std::vector<std::string>> words;
  for (const auto& document : corpus) {
    words.push_back(text::TermsOf(*analyzer, document.value_or("")));
  }
  text::CheckSearches(setting, corpus, text::Oracle(std::move(words)), *query);
  return 0;
}
