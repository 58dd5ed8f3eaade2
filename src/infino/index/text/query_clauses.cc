#include "infino/index/text/query_clauses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/sorted_block.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/impacts.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/phrase_match.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/posting_union.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/query_terms.h"
#include "infino/index/text/score_kernel.h"
#include "infino/index/text/scored_list.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_statistics.h"

namespace infino::text {

QueryClauses::QueryClauses(const TextIndexReader& index, const TextQuery& query,
                           PostingsCache* cache)
    : index_(&index), query_(&query), terms_(index, cache), lists_(query.clauses.size()) {
  std::vector<bool> looked_up(query.terms.size());
  for (uint32_t i = 0; i < query.clauses.size(); ++i) {
    const TextClause& clause = query.clauses[i];
    if (clause.kind == ClauseKind::kPrefix) {
      Prefix prefix;
      prefix.clause = i;
      prefixes_.push_back(std::move(prefix));
      continue;
    }
    for (const ClauseTerm& term : query.TermsOf(clause)) looked_up[term.term] = true;
  }
  for (size_t term = 0; term < query.terms.size(); ++term) {
    if (looked_up[term]) {
      terms_.Add(query.terms[term]);
    } else {
      terms_.AddAbsent(query.terms[term]);  // only the beginning of some
    }
  }
  expansions_.resize(prefixes_.size());
}

const QueryClauses::Prefix& QueryClauses::PrefixOf(const TextClause& clause) const {
  return *std::lower_bound(
      prefixes_.begin(), prefixes_.end(), OrdinalOf(clause),
      [](const Prefix& prefix, uint32_t ordinal) { return prefix.clause < ordinal; });
}

// --- The lookup

arrow::Status QueryClauses::PlanLookup(std::vector<ByteRange>& reads) {
  ARROW_RETURN_NOT_OK(terms_.PlanLookup(reads));
  lookup_count_ = reads.size();
  for (size_t i = 0; i < prefixes_.size(); ++i) {
    Prefix& prefix = prefixes_[i];
    prefix.first_term = static_cast<uint32_t>(terms_.size());
    const std::string& stem = query_->terms[FirstTerm(query_->clauses[prefix.clause])];
    if (const std::optional<ByteSpan> dictionary = index_->inline_dictionary()) {
      if (index_->summary().term_count == 0) continue;
      ARROW_RETURN_NOT_OK(Expand(prefix, *dictionary, expansions_[i]));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(prefix.blocks, index_->FindDictionaryBlocks(stem));
    reads.insert(reads.end(), prefix.blocks.begin(), prefix.blocks.end());
  }
  return arrow::Status::OK();
}

arrow::Status QueryClauses::TakeBlocks(const Buffers& bytes) {
  ARROW_RETURN_NOT_OK(terms_.TakeBlocks(std::span(bytes).first(lookup_count_)));
  size_t at = lookup_count_;
  for (size_t i = 0; i < prefixes_.size(); ++i) {
    Prefix& prefix = prefixes_[i];
    if (!prefix.blocks.empty()) prefix.first_term = static_cast<uint32_t>(terms_.size());
    for (size_t block = 0; block < prefix.blocks.size(); ++block, ++at) {
      const ByteSpan span(bytes[at]->data(), static_cast<size_t>(bytes[at]->size()));
      ARROW_RETURN_NOT_OK(Expand(prefix, span, expansions_[i]));
    }
  }
  return arrow::Status::OK();
}

/// Adds the terms of a dictionary block that begin with the prefix.
arrow::Status QueryClauses::Expand(Prefix& prefix, ByteSpan block,
                                   std::vector<ExpandedTerm>& expansion) {
  const std::string& stem = query_->terms[FirstTerm(query_->clauses[prefix.clause])];
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock dictionary, DictionaryBlock::Open(*index_, block));
  return dictionary.ForEach([&](std::string_view term, const TermEntry& entry) {
    if (!term.starts_with(stem)) return term < stem;
    expanded_.emplace_back(term);
    terms_.AddFound(expanded_.back(), entry);
    ++prefix.term_count;
    expansion.push_back({.term = expanded_.back(), .document_frequency = entry.document_frequency});
    return true;
  });
}

bool QueryClauses::MayMatch(const TextClause& clause) const {
  if (clause.kind == ClauseKind::kPrefix) return PrefixOf(clause).term_count > 0;
  return std::ranges::all_of(query_->TermsOf(clause), [this](const ClauseTerm& term) {
    return terms_.entry(term.term) != nullptr;
  });
}

// --- Scoring

bool QueryClauses::SetScoring(const Bm25& bm25, const TextStatistics& statistics) {
  ranked_ = true;
  bm25_ = bm25;
  row_total_ = statistics.rows_with_token;
  const auto possible = [this](int64_t whole, int64_t here) {
    return here <= whole && whole <= row_total_;
  };
  if (statistics.document_frequencies.size() != query_->terms.size() ||
      statistics.prefixes.size() != prefixes_.size()) {
    return false;
  }
  weights_.resize(query_->terms.size());
  for (uint32_t term = 0; term < weights_.size(); ++term) {
    const int64_t frequency = statistics.document_frequencies[term];
    if (!possible(frequency, document_frequency(term))) return false;
    weights_[term] = InverseDocumentFrequency(row_total_, frequency);
  }
  for (size_t i = 0; i < prefixes_.size(); ++i) {
    Prefix& prefix = prefixes_[i];
    const PrefixStatistics& whole = statistics.prefixes[i];
    prefix.synonym = whole.synonym;
    if (prefix.synonym) continue;
    prefix.weights.reserve(prefix.term_count);
    auto at = whole.terms.begin();  // both ascend
    for (const ExpandedTerm& here : expansions_[i]) {
      at = std::lower_bound(
          at, whole.terms.end(), here.term,
          [](const ExpandedTerm& term, const std::string& name) { return term.term < name; });
      if (at == whole.terms.end() || at->term != here.term) return false;
      if (!possible(at->document_frequency, here.document_frequency)) return false;
      prefix.weights.push_back(InverseDocumentFrequency(row_total_, at->document_frequency));
    }
  }
  return true;
}

double QueryClauses::PhraseWeight(const TextClause& clause) const {
  double weight = 0;
  for (const ClauseTerm& term : query_->TermsOf(clause)) weight += weights_[term.term];
  return weight;
}

double QueryClauses::BoundOf(const TextClause& clause) const {
  switch (clause.kind) {
    case ClauseKind::kTerm:
      return MaxContribution(terms_.entry(FirstTerm(clause))->impacts, bm25_, WeightOf(clause));
    case ClauseKind::kPhrase: {
      // It occurs at most as often as each of its words.
      double bound = std::numeric_limits<double>::infinity();
      const double weight = PhraseWeight(clause);
      for (const ClauseTerm& term : query_->TermsOf(clause)) {
        bound = std::min(bound, MaxContribution(terms_.entry(term.term)->impacts, bm25_, weight));
      }
      return bound;
    }
    case ClauseKind::kPrefix: {
      const Prefix& prefix = PrefixOf(clause);
      if (prefix.synonym) return std::numeric_limits<double>::infinity();
      double bound = 0;
      for (uint32_t i = 0; i < prefix.term_count; ++i) {
        bound +=
            MaxContribution(terms_.entry(prefix.first_term + i)->impacts, bm25_, prefix.weights[i]);
      }
      return bound;
    }
  }
  return 0;
}

// --- The postings

arrow::Status QueryClauses::PlanPostings(const std::vector<bool>& wanted, bool lengths,
                                         std::vector<ByteRange>& reads) {
  wanted_ = wanted;
  std::vector<TermNeed> needs(terms_.size(), TermNeed::kNothing);
  bool scoring = false;
  const auto need = [&](uint32_t term, TermNeed what) {
    needs[term] = std::max(needs[term], what);
    scoring = scoring || terms_.document_frequency(term) > kBlockSize;
  };
  for (size_t i = 0; i < query_->clauses.size(); ++i) {
    if (!wanted[i]) continue;
    const TextClause& clause = query_->clauses[i];
    switch (clause.kind) {
      case ClauseKind::kTerm:
        need(FirstTerm(clause), TermNeed::kPostings);
        break;
      case ClauseKind::kPhrase:
        for (const ClauseTerm& term : query_->TermsOf(clause)) {
          need(term.term, TermNeed::kPositions);
        }
        scoring = true;  // a phrase's postings don't carry them
        break;
      case ClauseKind::kPrefix: {
        const Prefix& prefix = PrefixOf(clause);
        for (uint32_t k = 0; k < prefix.term_count; ++k) {
          need(prefix.first_term + k, TermNeed::kPostings);
        }
        scoring = scoring || prefix.synonym;
        break;
      }
    }
  }
  return terms_.PlanPostings(needs, lengths || (scoring && ranked_ && bm25_.b > 0), reads);
}

arrow::Status QueryClauses::TakePostings(Buffers bytes) {
  ARROW_RETURN_NOT_OK(terms_.TakePostings(std::move(bytes)));
  synonym_frequencies_.assign(prefixes_.size(), 0);
  synonym_docs_.resize(prefixes_.size());
  synonym_counts_.resize(prefixes_.size());
  for (size_t i = 0; i < query_->clauses.size(); ++i) {
    if (!wanted_[i]) continue;
    const TextClause& clause = query_->clauses[i];
    if (clause.kind == ClauseKind::kPhrase) ARROW_RETURN_NOT_OK(MatchPhrase(clause));
    if (clause.kind == ClauseKind::kPrefix) ARROW_RETURN_NOT_OK(MatchPrefix(PrefixOf(clause)));
  }
  return arrow::Status::OK();
}

const LengthNorms* QueryClauses::norms() {
  if (!norms_.has_value() && ranked_ && terms_.lengths() != nullptr) {
    norms_.emplace(bm25_, *terms_.lengths());
  }
  return norms_.has_value() ? &*norms_ : nullptr;
}

/// What documents score in which something of that weight occurs so often.
std::vector<double> QueryClauses::Score(const std::vector<DocId>& docs,
                                        std::span<const double> frequencies, double weight) {
  std::vector<double> scores(docs.size());
  const DocLengths* const lengths = terms_.lengths();
  for (size_t i = 0; i < docs.size(); ++i) {
    const double length = lengths == nullptr ? 0 : (*lengths)[docs[i]];
    scores[i] = bm25_.Contribution(weight, frequencies[i], length);
  }
  return scores;
}

arrow::Status QueryClauses::MatchPhrase(const TextClause& clause) {
  std::vector<PhraseWord> words;
  for (const ClauseTerm& term : query_->TermsOf(clause)) {
    ARROW_ASSIGN_OR_RAISE(PositionsReader positions, terms_.OpenPositions(term.term));
    words.push_back({.cursor = PostingsCursor(*index_, terms_.postings(term.term)),
                     .positions = std::move(positions),
                     .position = term.position});
  }
  std::optional<PhrasePruning> pruning;
  if (best_wanted_.has_value()) {
    pruning = {.bm25 = bm25_,
               .weight = PhraseWeight(clause),
               .lengths = terms_.lengths(),
               .k = *best_wanted_};
  }
  PhraseMatcher matcher(std::move(words), pruning);
  ARROW_ASSIGN_OR_RAISE(PhraseMatches matches, matcher.Run());
  std::vector<double> scores;
  if (ranked_) {
    const std::vector<double> frequencies(matches.frequencies.begin(), matches.frequencies.end());
    scores = Score(matches.docs, frequencies, PhraseWeight(clause));
  }
  lists_[OrdinalOf(clause)] =
      std::make_shared<ScoredList>(std::move(matches.docs), std::move(scores));
  return arrow::Status::OK();
}

arrow::Status QueryClauses::MatchPrefix(const Prefix& prefix) {
  uint64_t posting_count = 0;
  for (uint32_t i = 0; i < prefix.term_count; ++i) {
    posting_count += static_cast<uint64_t>(terms_.document_frequency(prefix.first_term + i));
  }
  PostingUnion all(static_cast<uint32_t>(index_->summary().row_count), posting_count);
  for (uint32_t i = 0; i < prefix.term_count; ++i) {
    PostingsCursor postings(*index_, terms_.postings(prefix.first_term + i));
    if (ranked_ && !prefix.synonym) {
      const TermScoring scoring{.bm25 = bm25_, .idf = prefix.weights[i]};
      ARROW_RETURN_NOT_OK(all.AddScores(postings, scoring, norms(), scratch_));
    } else {
      ARROW_RETURN_NOT_OK(all.AddFrequencies(postings));
    }
  }
  auto [docs, values] = all.Finish();
  if (ranked_ && prefix.synonym) {
    const auto ordinal = static_cast<size_t>(&prefix - prefixes_.data());
    synonym_frequencies_[ordinal] = static_cast<int64_t>(docs.size());
    synonym_docs_[ordinal] = std::move(docs);
    synonym_counts_[ordinal] = std::move(values);
    return arrow::Status::OK();
  }
  if (!ranked_) values.clear();
  lists_[prefix.clause] = std::make_shared<ScoredList>(std::move(docs), std::move(values));
  return arrow::Status::OK();
}

void QueryClauses::ScoreSynonyms(std::span<const int64_t> frequencies) {
  for (size_t i = 0; i < prefixes_.size(); ++i) {
    if (!prefixes_[i].synonym || !wanted_[prefixes_[i].clause]) continue;
    const double weight = InverseDocumentFrequency(row_total_, frequencies[i]);
    std::vector<double> scores = Score(synonym_docs_[i], synonym_counts_[i], weight);
    lists_[prefixes_[i].clause] =
        std::make_shared<ScoredList>(std::move(synonym_docs_[i]), std::move(scores));
    synonym_counts_[i] = {};
  }
}

// --- What clauses match

std::optional<ClauseCursor> QueryClauses::Open(const TextClause& clause) {
  if (clause.kind != ClauseKind::kTerm) {
    const std::shared_ptr<const ScoredList>& list = lists_[OrdinalOf(clause)];
    if (list == nullptr || list->docs().empty()) return std::nullopt;
    return ClauseCursor(list);
  }
  if (!MayMatch(clause)) return std::nullopt;
  const std::shared_ptr<const TermPostings>& postings = terms_.postings(FirstTerm(clause));
  ClauseCursor::Ranking ranking;
  if (ranked_) {
    ranking = {.bounds = postings->BoundsUnder({.bm25 = bm25_, .idf = WeightOf(clause)}),
               .norms = norms(),
               .scratch = &scratch_};
  }
  return ClauseCursor(PostingsCursor(*index_, postings), std::move(ranking));
}

const TermPostings* QueryClauses::SmallPostings(const TextClause& clause) const {
  if (clause.kind != ClauseKind::kTerm || !MayMatch(clause)) return nullptr;
  const TermPostings* const postings = terms_.postings(FirstTerm(clause)).get();
  return postings->blocks().size() == 1 ? postings : nullptr;
}

arrow::Status QueryClauses::AddTo(PostingUnion& scores, const TextClause& clause) {
  PostingsCursor postings(*index_, terms_.postings(FirstTerm(clause)));
  return scores.AddScores(postings, {.bm25 = bm25_, .idf = WeightOf(clause)}, norms(), scratch_);
}

arrow::Result<double> QueryClauses::ScoreOf(const TextClause& clause, DocId doc) {
  std::optional<ClauseCursor> cursor = Open(clause);
  if (!cursor.has_value()) return 0;
  cursor->SeekBlock(doc);
  if (cursor->at_end()) return 0;
  ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor->Docs());
  const size_t ordinal = SearchBlock(docs, doc);
  if (docs[ordinal] != doc) return 0;
  double score = 0;
  cursor->Scores(ordinal, std::span(&score, 1));
  return score;
}

}  // namespace infino::text
