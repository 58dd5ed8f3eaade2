#include "unit/index/text_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/builder_binary.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/index/doc_filter.h"
#include "infino/index/shared_floor.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"
#include "infino/index/top_k.h"
#include "infino/index_spec.h"

namespace infino::text {

void Check(const arrow::Status& status) {
  if (!status.ok()) status.Abort();
}

std::string WordOfRank(uint32_t rank) {
  std::string word;
  for (uint32_t rest = rank + 1; rest > 0; rest /= 26) {
    word.push_back(static_cast<char>('a' + rest % 26));
  }
  if (rank % 7 == 3) word += "inglywordly";  // some longer than the builder's prefix
  return word + static_cast<char>('a' + rank % 5);
}

uint32_t DrawRank(Random& random, uint32_t count, double skew) {
  const double uniform = random.Unit();
  const double drawn = skew == 0 ? uniform * count : std::pow(count + 1.0, uniform) - 1;
  return std::min(count - 1, static_cast<uint32_t>(drawn));
}

Corpus RandomCorpus(Random& random, const CorpusShape& shape) {
  Corpus corpus;
  for (uint32_t row = 0; row < shape.rows; ++row) {
    if (random.Unit() < shape.null_share) {
      corpus.emplace_back();
      continue;
    }
    const uint64_t spread = shape.length_max - shape.length_min + 1;
    const uint64_t length = shape.length_min + random.Below(spread) * random.Below(spread) / spread;
    std::string text;
    for (uint64_t i = 0; i < length; ++i) {
      if (!text.empty()) text += ' ';
      text += WordOfRank(DrawRank(random, shape.vocabulary, shape.skew));
    }
    corpus.emplace_back(std::move(text));
  }
  return corpus;
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) words.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return words;
}

BuiltIndex Build(const Corpus& corpus, const TextIndexOptions& options) {
  arrow::LargeStringBuilder texts;
  for (const std::optional<std::string>& text : corpus) {
    const arrow::Status added = text.has_value() ? texts.Append(*text) : texts.AppendNull();
    Check(added);
  }
  const auto column = texts.Finish().ValueOrDie();
  const std::unique_ptr<TextIndexBuilder> builder =
      TextIndexBuilder::Make(options, SuperfileId{}).ValueOrDie();
  // In pieces, as batches come.
  for (int64_t at = 0; at < column->length(); at += 1000) {
    Check(builder->Add(*column->Slice(at, 1000)));
  }
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  Check(sink->Write("in front", 8));  // a blob does not start where its stream starts
  BuiltIndex built;
  built.finished =
      builder->Finish(*sink, [&built](std::string_view term) { built.visited.emplace_back(term); })
          .ValueOrDie();
  const auto all = sink->Finish().ValueOrDie();
  built.blob = arrow::SliceBuffer(all, 8);
  built.reader = TextIndexReader::Open(built.finished.open_part, built.blob->size(), "test index")
                     .ValueOrDie();
  return built;
}

TextQuery QueryOf(std::string_view text, bool all) {
  TextQuery query;
  for (std::string word : WordsOf(text)) {
    TextClause clause{.occur = all ? Occur::kMust : Occur::kShould};
    if (word[0] == '+') clause.occur = Occur::kMust;
    if (word[0] == '-') clause.occur = Occur::kMustNot;
    if (word[0] == '+' || word[0] == '-') word.erase(0, 1);
    if (word.back() == '*') {
      clause.kind = ClauseKind::kPrefix;
      word.pop_back();
    }
    clause.terms_begin = static_cast<uint32_t>(query.clause_terms.size());
    std::ranges::replace(word, '_', ' ');
    for (const std::string& part : WordsOf(word)) {
      const auto found = std::ranges::find(query.terms, part);
      const auto term = static_cast<uint32_t>(found - query.terms.begin());
      if (found == query.terms.end()) query.terms.push_back(part);
      const auto position = static_cast<uint32_t>(query.clause_terms.size()) - clause.terms_begin;
      query.clause_terms.push_back({.term = term, .position = position});
    }
    clause.terms_end = static_cast<uint32_t>(query.clause_terms.size());
    if (clause.terms_end - clause.terms_begin > 1) clause.kind = ClauseKind::kPhrase;
    query.clauses.push_back(clause);
  }
  return query;
}

TextQuery RandomQuery(Random& random, uint32_t vocabulary, uint32_t clauses_max) {
  const uint64_t count = 1 + random.Below(clauses_max);
  const bool all = random.Below(4) == 0;
  const uint64_t signs = random.Below(3);  // 0: none
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t sign = signs == 0 || i == 0 ? 9 : random.Below(6);
    if (sign == 0) text += '-';
    if (sign == 1) text += '+';
    text += random.Below(20) == 0 ? "absentword" : WordOfRank(DrawRank(random, vocabulary, 0.5));
    text += ' ';
  }
  return QueryOf(text, all);
}

TextQuery RandomRichQuery(Random& random, const Corpus& corpus, uint32_t vocabulary,
                          uint32_t clauses_max) {
  const auto word = [&] { return WordOfRank(DrawRank(random, vocabulary, 0.5)); };
  const auto phrase = [&]() -> std::string {
    const std::vector<std::string> words =
        WordsOf(corpus[random.Below(corpus.size())].value_or(""));
    const size_t length = 2 + random.Below(2);
    if (words.size() < length || random.Below(4) == 0) return word() + '_' + word();
    const size_t at = random.Below(words.size() - length + 1);
    std::string text = words[at];
    for (size_t i = 1; i < length; ++i) text += '_' + words[at + i];
    return text;
  };
  const bool all = random.Below(4) == 0;
  const bool has_signs = random.Below(3) != 0;
  std::string text;
  for (uint64_t i = 0, count = 1 + random.Below(clauses_max); i < count; ++i) {
    const uint64_t sign = !has_signs || i == 0 ? 9 : random.Below(6);
    if (sign == 0) text += '-';
    if (sign == 1) text += '+';
    const uint64_t kind = random.Below(3);
    if (kind == 0) text += word();
    if (kind == 1) text += phrase();
    if (kind == 2) text += word().substr(0, 1 + random.Below(2)) + '*';
    text += ' ';
  }
  return QueryOf(text, all);
}

arrow::Status Drive(TextSearch& search, const arrow::Buffer& blob, Rounds* rounds) {
  while (true) {
    ARROW_RETURN_NOT_OK(search.Resume());
    const std::vector<ByteRange> ranges = search.NextReads();
    if (ranges.empty()) return arrow::Status::OK();
    Buffers bytes;
    for (const ByteRange& range : ranges) {
      if (range.offset < 0 || range.length < 0 || range.end() > blob.size()) {
        return arrow::Status::Invalid("range past the blob");
      }
      // A copy of just these bytes, so that a sanitizer sees reads past them.
      auto copy = arrow::AllocateBuffer(range.length).ValueOrDie();
      std::copy_n(blob.data() + range.offset, range.length, copy->mutable_data());
      bytes.push_back(std::move(copy));
      if (rounds != nullptr) rounds->bytes += range.length;
    }
    if (rounds != nullptr) {
      ++rounds->rounds;
      rounds->ranges += static_cast<int64_t>(ranges.size());
    }
    ARROW_RETURN_NOT_OK(search.Feed(std::move(bytes)));
  }
}

TextStatistics Sum(std::span<const BuiltIndex> indexes,
                   std::span<const std::unique_ptr<TextSearch>> searches) {
  TextStatistics sum;
  for (size_t i = 0; i < indexes.size(); ++i) {
    sum.rows_with_token += indexes[i].reader->summary().rows_with_token;
    sum.token_total += indexes[i].reader->summary().token_total;
    const std::span<const int64_t> local = searches[i]->document_frequencies();
    sum.document_frequencies.resize(local.size());
    for (size_t term = 0; term < local.size(); ++term) {
      sum.document_frequencies[term] += local[term];
    }
  }
  const size_t prefix_count = searches.empty() ? 0 : searches[0]->expansions().size();
  for (size_t prefix = 0; prefix < prefix_count; ++prefix) {
    std::map<std::string, int64_t> terms;
    for (const std::unique_ptr<TextSearch>& search : searches) {
      for (const ExpandedTerm& term : search->expansions()[prefix]) {
        terms[term.term] += term.document_frequency;
      }
    }
    PrefixStatistics& statistics = sum.prefixes.emplace_back();
    statistics.synonym = terms.size() > kExpandedTermsMax;
    if (statistics.synonym) continue;
    for (const auto& [term, frequency] : terms) statistics.terms.push_back({term, frequency});
  }
  return sum;
}

arrow::Result<std::vector<ScoredDoc>> Rank(const BuiltIndex& index, const TextQuery& query,
                                           const TextSearchOptions& options,
                                           const DocFilter* filter, Rounds* rounds) {
  std::vector<std::unique_ptr<TextSearch>> searches(1);
  ARROW_ASSIGN_OR_RAISE(searches[0], TextSearch::Make(*index.reader, query, filter, options));
  ARROW_RETURN_NOT_OK(Drive(*searches[0], *index.blob, rounds));
  ARROW_RETURN_NOT_OK(searches[0]->SetStatistics(Sum(std::span(&index, 1), searches)));
  ARROW_RETURN_NOT_OK(Drive(*searches[0], *index.blob, rounds));
  if (searches[0]->wants_synonym_frequencies()) {
    const std::span<const int64_t> here = searches[0]->synonym_frequencies();
    const std::vector<int64_t> whole(here.begin(), here.end());
    ARROW_RETURN_NOT_OK(searches[0]->SetSynonymFrequencies(whole));
    ARROW_RETURN_NOT_OK(Drive(*searches[0], *index.blob, rounds));
  }
  if (!searches[0]->done()) return arrow::Status::Invalid("search is not done");
  const std::span<const ScoredDoc> top = searches[0]->TopDocs();
  for (const ScoredDoc& doc : top) {
    if (doc.score > searches[0]->UpperBound()) return arrow::Status::Invalid("bound is too low");
  }
  return std::vector<ScoredDoc>(top.begin(), top.end());
}

arrow::Result<std::vector<DocId>> MatchAll(const BuiltIndex& index, const TextQuery& query,
                                           const DocFilter* filter) {
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextSearch> search,
      TextSearch::Make(*index.reader, query, filter, {.mode = TextSearchMode::kMatchAll}));
  ARROW_RETURN_NOT_OK(Drive(*search, *index.blob));
  if (!search->done()) return arrow::Status::Invalid("search is not done");
  return std::vector<DocId>(search->Matches().begin(), search->Matches().end());
}

arrow::Result<uint64_t> CountAll(const BuiltIndex& index, const TextQuery& query,
                                 const DocFilter* filter, Rounds* rounds) {
  ARROW_ASSIGN_OR_RAISE(
      const std::unique_ptr<TextSearch> search,
      TextSearch::Make(*index.reader, query, filter, {.mode = TextSearchMode::kCount}));
  ARROW_RETURN_NOT_OK(Drive(*search, *index.blob, rounds));
  if (!search->done()) return arrow::Status::Invalid("search is not done");
  return search->Count();
}

Split SplitUp(Random& random, const Corpus& corpus, size_t count, const TextIndexOptions& options) {
  std::vector<size_t> cuts = {0, corpus.size()};
  for (size_t i = 1; i < count; ++i) cuts.push_back(random.Below(corpus.size() + 1));
  std::ranges::sort(cuts);
  Split split;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = corpus.begin() + static_cast<ptrdiff_t>(cuts[i]);
    const auto end = corpus.begin() + static_cast<ptrdiff_t>(cuts[i + 1]);
    split.indexes.push_back(Build(Corpus(begin, end), options));
    split.first_docs.push_back(static_cast<DocId>(cuts[i]));
  }
  return split;
}

std::vector<ScoredDoc> RankSplit(const Split& split, const TextQuery& query,
                                 TextSearchOptions options, Random& random) {
  SharedFloor floor;
  options.floor = &floor;
  std::vector<std::unique_ptr<TextSearch>> searches;
  for (const BuiltIndex& index : split.indexes) {
    searches.push_back(TextSearch::Make(*index.reader, query, nullptr, options).ValueOrDie());
    Check(Drive(*searches.back(), *index.blob));
  }
  const TextStatistics statistics = Sum(split.indexes, searches);
  std::vector<size_t> order(searches.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  std::vector<ScoredDoc> merged;
  const auto take = [&](size_t i) {
    for (ScoredDoc doc : searches[i]->TopDocs()) {
      doc.doc += split.first_docs[i];
      merged.push_back(doc);
    }
  };
  std::vector<size_t> waiting;
  for (const size_t i : order) {
    Check(searches[i]->SetStatistics(statistics));
    if (searches[i]->UpperBound() < floor.score()) continue;
    Check(Drive(*searches[i], *split.indexes[i].blob));
    if (searches[i]->wants_synonym_frequencies()) {
      waiting.push_back(i);
      continue;
    }
    take(i);
  }
  std::vector<int64_t> synonyms;
  for (const size_t i : waiting) {
    const std::span<const int64_t> here = searches[i]->synonym_frequencies();
    synonyms.resize(here.size());
    for (size_t k = 0; k < here.size(); ++k) synonyms[k] += here[k];
  }
  for (const size_t i : waiting) {
    Check(searches[i]->SetSynonymFrequencies(synonyms));
    Check(Drive(*searches[i], *split.indexes[i].blob));
    take(i);
  }
  std::ranges::sort(merged, RanksBefore);
  if (merged.size() > options.k) merged.resize(options.k);
  return merged;
}

namespace {

std::vector<std::vector<std::string>> WordsOfAll(const Corpus& corpus) {
  std::vector<std::vector<std::string>> words;
  for (const std::optional<std::string>& text : corpus) words.push_back(WordsOf(text.value_or("")));
  return words;
}

}  // namespace

Oracle::Oracle(const Corpus& corpus) : Oracle(WordsOfAll(corpus)) {}

Oracle::Oracle(std::vector<std::vector<std::string>> all_words) : words_(std::move(all_words)) {
  for (const std::vector<std::string>& words : words_) {
    const auto doc = static_cast<DocId>(lengths_.size());
    uint32_t& length = lengths_.emplace_back();
    for (const std::string& word : words) {
      if (word.empty()) continue;
      ++postings_[word][doc];
      ++length;
    }
    if (length > 0) ++rows_with_token_;
    token_total_ += length;
  }
}

uint32_t Oracle::FrequencyOf(const std::string& term, DocId doc) const {
  const auto postings = postings_.find(term);
  if (postings == postings_.end()) return 0;
  const auto found = postings->second.find(doc);
  return found == postings->second.end() ? 0 : found->second;
}

uint32_t Oracle::PhraseFrequency(const TextQuery& query, const TextClause& clause,
                                 DocId doc) const {
  const std::vector<std::string>& words = words_[doc];
  uint32_t frequency = 0;
  for (size_t at = 0; at < words.size(); ++at) {
    const bool stands_here =
        std::ranges::all_of(query.TermsOf(clause), [&](const ClauseTerm& term) {
          return at + term.position < words.size() &&
                 words[at + term.position] == query.terms[term.term];
        });
    if (stands_here) ++frequency;
  }
  return frequency;
}

bool Oracle::ClauseMatches(const TextQuery& query, const TextClause& clause, DocId doc) const {
  const std::string& first = query.terms[query.TermsOf(clause)[0].term];
  switch (clause.kind) {
    case ClauseKind::kTerm:
      return FrequencyOf(first, doc) > 0;
    case ClauseKind::kPhrase:
      return PhraseFrequency(query, clause, doc) > 0;
    case ClauseKind::kPrefix:
      return std::ranges::any_of(words_[doc],
                                 [&](const std::string& word) { return word.starts_with(first); });
  }
  return false;
}

double Oracle::Weight(double document_frequency) const {
  const auto rows = static_cast<double>(rows_with_token_);
  return std::log(1 + (rows - document_frequency + 0.5) / (document_frequency + 0.5));
}

double Oracle::ClauseScore(const TextQuery& query, const TextClause& clause, DocId doc, double k1,
                           double b) const {
  const double average = static_cast<double>(token_total_) / static_cast<double>(rows_with_token_);
  const double dl = lengths_[doc];
  const auto contribution = [&](double idf, double tf) {
    return idf * tf / (tf + k1 * (1 - b + b * dl / average));
  };
  const auto weight_of = [&](const std::string& term) {
    const auto found = postings_.find(term);
    return Weight(found == postings_.end() ? 0 : static_cast<double>(found->second.size()));
  };
  const std::string& first = query.terms[query.TermsOf(clause)[0].term];
  if (clause.kind == ClauseKind::kTerm) {
    return contribution(weight_of(first), FrequencyOf(first, doc));
  }
  if (clause.kind == ClauseKind::kPhrase) {
    double idf = 0;
    for (const ClauseTerm& term : query.TermsOf(clause)) idf += weight_of(query.terms[term.term]);
    return contribution(idf, PhraseFrequency(query, clause, doc));
  }
  // Terms in byte order; more than 4,096 of them are one.
  double score = 0;
  double together = 0;
  const std::set<std::string> words(words_[doc].begin(), words_[doc].end());
  for (auto at = words.lower_bound(first); at != words.end() && at->starts_with(first); ++at) {
    const double tf = FrequencyOf(*at, doc);
    together += tf;
    score += contribution(weight_of(*at), tf);
  }
  const Expansion& expansion = ExpansionOf(first);
  if (expansion.term_count <= 4096) return score;
  return contribution(Weight(static_cast<double>(expansion.document_count)), together);
}

const Oracle::Expansion& Oracle::ExpansionOf(const std::string& stem) const {
  const auto [place, is_new] = expansions_.try_emplace(stem);
  if (!is_new) return place->second;
  std::set<DocId> docs;
  for (auto at = postings_.lower_bound(stem); at != postings_.end() && at->first.starts_with(stem);
       ++at) {
    ++place->second.term_count;
    for (const auto& [doc, frequency] : at->second) docs.insert(doc);
  }
  place->second.document_count = docs.size();
  return place->second;
}

bool Oracle::Matches(const TextQuery& query, DocId doc) const {
  bool any_must = false;
  bool any = false;
  for (const TextClause& clause : query.clauses) {
    const bool here = ClauseMatches(query, clause, doc);
    if (clause.occur == Occur::kMustNot && here) return false;
    if (clause.occur == Occur::kMust && !here) return false;
    if (clause.occur == Occur::kMust) any_must = true;
    if (clause.occur != Occur::kMustNot && here) any = true;
  }
  return any_must || any;
}

std::vector<DocId> Oracle::Match(const TextQuery& query, const DocFilter* filter) const {
  std::vector<DocId> matches;
  for (DocId doc = 0; doc < lengths_.size(); ++doc) {
    if ((filter == nullptr || filter->Passes(doc)) && Matches(query, doc)) matches.push_back(doc);
  }
  return matches;
}

std::vector<ScoredDoc> Oracle::Rank(const TextQuery& query, double k1, double b, uint64_t k,
                                    const DocFilter* filter) const {
  std::vector<ScoredDoc> scored;
  for (const DocId doc : Match(query, filter)) {
    double score = 0;
    for (const TextClause& clause : query.clauses) {
      if (clause.occur == Occur::kMustNot || !ClauseMatches(query, clause, doc)) continue;
      score += ClauseScore(query, clause, doc, k1, b);
    }
    scored.push_back({.doc = doc, .score = static_cast<float>(score)});
  }
  std::ranges::sort(scored, [](const ScoredDoc& left, const ScoredDoc& right) {
    return left.score != right.score ? left.score > right.score : left.doc < right.doc;
  });
  if (scored.size() > k) scored.resize(k);
  return scored;
}

}  // namespace infino::text
