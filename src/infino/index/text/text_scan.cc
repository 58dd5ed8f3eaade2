#include "infino/index/text/text_scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/clause_cursor.h"
#include "infino/index/text/match_scan.h"
#include "infino/index/text/posting_union.h"
#include "infino/index/text/query_clauses.h"
#include "infino/index/text/ranked_scan.h"
#include "infino/index/text/scored_list.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_query.h"
#include "infino/index/top_k.h"

namespace infino::text {
namespace {

/// So many terms of few documents are worth to be put together.
constexpr size_t kManySmall = 16;

}  // namespace

/// Puts the clauses that need not match and whose terms have few documents into one list: of many
/// words most are rare, and each that is walked for itself costs something in every window.
arrow::Status TextScan::FoldSmall(std::vector<bool>& folded) {
  uint64_t posting_count = 0;
  size_t count = 0;
  for (const TextClause& clause : query_->clauses) {
    const TermPostings* const small =
        clause.occur == Occur::kShould ? clauses_->SmallPostings(clause) : nullptr;
    if (small == nullptr) continue;
    posting_count += small->document_count();
    ++count;
  }
  if (count < kManySmall) return arrow::Status::OK();
  PostingUnion all(row_count(), posting_count);
  for (size_t i = 0; i < query_->clauses.size(); ++i) {
    const TextClause& clause = query_->clauses[i];
    if (clause.occur != Occur::kShould || clauses_->SmallPostings(clause) == nullptr) continue;
    ARROW_RETURN_NOT_OK(clauses_->AddTo(all, clause));
    folded[i] = true;
  }
  auto [docs, scores] = all.Finish();
  cursors_.emplace_back(std::make_shared<ScoredList>(std::move(docs), std::move(scores)));
  return arrow::Status::OK();
}

arrow::Result<std::vector<RankClause>> TextScan::RankClauses() {
  std::vector<RankClause> result;
  std::vector<bool> folded(query_->clauses.size());
  ARROW_RETURN_NOT_OK(FoldSmall(folded));
  if (!cursors_.empty()) result.push_back({.occur = Occur::kShould, .cursor = &cursors_.back()});
  // Terms that the query repeats are walked once.
  std::unordered_map<uint64_t, size_t> seen;
  for (size_t i = 0; i < query_->clauses.size(); ++i) {
    const TextClause& clause = query_->clauses[i];
    if (folded[i]) continue;
    if (clause.kind == ClauseKind::kTerm) {
      const auto [place, is_new] = seen.try_emplace(TermKey(clause), result.size());
      if (!is_new) {
        RankClause& first = result[place->second];
        first.count += 1;
        if (clause.occur == Occur::kMust) first.occur = Occur::kMust;
        continue;
      }
    }
    std::optional<ClauseCursor> cursor = clauses_->Open(clause);
    if (!cursor.has_value()) {
      if (clause.occur == Occur::kMust) return std::vector<RankClause>();
      if (clause.kind == ClauseKind::kTerm) seen.erase(TermKey(clause));
      continue;
    }
    cursors_.push_back(*std::move(cursor));
    result.push_back({.occur = clause.occur, .cursor = &cursors_.back()});
  }
  return result;
}

arrow::Status TextScan::Rank(const Ranking& ranking, TopK& top) {
  cursors_.reserve(query_->clauses.size() + 1);
  ARROW_ASSIGN_OR_RAISE(std::vector<RankClause> clauses, RankClauses());
  const bool has_positive = std::ranges::any_of(
      clauses, [](const RankClause& clause) { return clause.occur != Occur::kMustNot; });
  if (!has_positive) return arrow::Status::OK();
  RankedScan scan(std::move(clauses),
                  {.row_count = row_count(),
                   .filter = filter_,
                   .prune = ranking.prune,
                   .floor = ranking.floor,
                   .clause_count = query_->clauses.size(),
                   .exact_score = [this](DocId doc) { return ExactScore(doc); }});
  return scan.Run(ranking.k, top);
}

arrow::Result<float> TextScan::ExactScore(DocId doc) {
  double sum = 0;
  for (const TextClause& clause : query_->clauses) {
    if (clause.occur == Occur::kMustNot) continue;
    ARROW_ASSIGN_OR_RAISE(const double score, clauses_->ScoreOf(clause, doc));
    sum += score;
  }
  return static_cast<float>(sum);
}

/// The clauses to match; none where nothing can.
std::vector<MatchClause> TextScan::MatchClauses(const std::vector<bool>& wanted) {
  cursors_.reserve(query_->clauses.size());
  std::vector<MatchClause> clauses;
  bool has_positive = false;
  for (size_t i = 0; i < query_->clauses.size(); ++i) {
    const TextClause& clause = query_->clauses[i];
    std::optional<ClauseCursor> cursor;
    if (wanted[i]) cursor = clauses_->Open(clause);
    if (!cursor.has_value()) {
      if (clause.occur == Occur::kMust) return {};
      continue;
    }
    has_positive = has_positive || clause.occur != Occur::kMustNot;
    cursors_.push_back(*std::move(cursor));
    clauses.push_back({.occur = clause.occur, .cursor = &cursors_.back()});
  }
  if (!has_positive) clauses.clear();
  return clauses;
}

arrow::Status TextScan::Match(const std::vector<bool>& wanted, std::vector<DocId>& matches) {
  const std::vector<MatchClause> clauses = MatchClauses(wanted);
  if (clauses.empty()) return arrow::Status::OK();
  return MatchScan(clauses, row_count(), filter_).Match(matches);
}

arrow::Status TextScan::MatchOfLength(const std::vector<bool>& wanted, uint32_t length,
                                      std::vector<DocId>& matches) {
  if (query_->clauses.empty()) {
    for (DocId doc = 0; doc < row_count(); ++doc) {
      if (filter_ == nullptr || filter_->Passes(doc)) matches.push_back(doc);
    }
  } else {
    ARROW_RETURN_NOT_OK(Match(wanted, matches));
  }
  std::erase_if(matches, [&](DocId doc) { return (*clauses_->lengths())[doc] != length; });
  return arrow::Status::OK();
}

arrow::Result<uint64_t> TextScan::Count(const std::vector<bool>& wanted) {
  const std::vector<MatchClause> clauses = MatchClauses(wanted);
  if (clauses.empty()) return 0;
  return MatchScan(clauses, row_count(), filter_).Count();
}

}  // namespace infino::text
