#include "infino/index/text/pattern_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/postings_cursor.h"
#include "infino/index/text/query_terms.h"
#include "infino/index/text/term_texts.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_pattern.h"

namespace infino::text {
namespace {

/// A dictionary of more bytes is not read for the sake of a pattern.
constexpr int64_t kDictionaryMax = int64_t{64} << 20;

/// Of the constraints of a pattern, so many are used: the longest ones.
constexpr size_t kPartsMax = 8;

/// A constraint that more terms fit is not used.
constexpr size_t kTermsMax = 4096;

/// Up to so many terms are kept for the next query.
constexpr size_t kTermsKeptMax = 256;

/// A constraint is used if its terms have at most one document in so many.
constexpr int64_t kWorthwhileShare = 4;

/// Whether the terms of an index are words as ConstraintsOf knows them.
bool HasPlainWords(const AnalyzerFacts& analyzer) {
  return analyzer.name == "standard" && analyzer.revision == kAnalysisRevision &&
         (analyzer.stopwords.empty() || analyzer.stopwords == "english") &&
         analyzer.stemmer.empty();
}

/// Whether so few terms fit a constraint that it may be worth looking for them.
bool IsTelling(const TermConstraint& constraint) {
  return constraint.part.size() > 1 || (constraint.at_start && constraint.at_end);
}

/// Whether only one term fits: a word that is not so long that it was cut.
bool IsTerm(const TermConstraint& constraint) {
  return constraint.at_start && constraint.at_end && !constraint.any_case &&
         constraint.part.size() <= Analyzer::kTokenLengthMax;
}

}  // namespace

std::unique_ptr<PatternSearch> PatternSearch::Make(const TextIndexReader& index,
                                                   const TextPattern& pattern,
                                                   PostingsCache* cache) {
  auto search = std::make_unique<PatternSearch>(index, cache);
  if (HasPlainWords(index.analyzer())) {
    for (TermConstraint& constraint : ConstraintsOf(pattern, !index.analyzer().stopwords.empty())) {
      if (!IsTelling(constraint)) continue;
      search->parts_.push_back({.constraint = std::move(constraint)});
    }
  }
  return search;
}

arrow::Status PatternSearch::Resume() {
  return state_ == State::kStart ? Start() : arrow::Status::OK();
}

void PatternSearch::End(std::optional<DocFilter> candidates) {
  reads_.clear();
  candidates_ = std::move(candidates);
  state_ = State::kDone;
}

arrow::Status PatternSearch::Start() {
  std::ranges::stable_sort(parts_, std::ranges::greater(),
                           [](const Part& part) { return part.constraint.part.size(); });
  if (parts_.size() > kPartsMax) parts_.resize(kPartsMax);
  if (parts_.empty()) {
    End(std::nullopt);
    return arrow::Status::OK();
  }
  state_ = State::kTexts;
  if (std::ranges::all_of(parts_, [](const Part& part) { return IsTerm(part.constraint); })) {
    return TakeTexts(nullptr);
  }
  if (cache_ != nullptr) {
    if (const auto known = cache_->FindTexts(index_->uid())) return TakeTexts(known.get());
  }
  if (index_->inline_dictionary().has_value()) {
    ARROW_ASSIGN_OR_RAISE(const auto texts, TermTexts::Read(*index_, {}));
    return TakeTexts(texts.get());
  }
  const ByteRange& dictionary = index_->sections().dictionary;
  if (dictionary.length > kDictionaryMax) {
    End(std::nullopt);
  } else {
    reads_.push_back(dictionary);
  }
  return arrow::Status::OK();
}

/// Finds the terms that fit; `texts` may be null where all constraints say what the term is.
arrow::Status PatternSearch::TakeTexts(const TermTexts* texts) {
  reads_.clear();
  std::vector<Part> used;
  std::vector<std::string> found;
  for (Part& part : parts_) {
    found.clear();
    if (texts == nullptr) {
      found.push_back(part.constraint.part);
    } else if (!texts->Find(part.constraint, kTermsMax, found)) {
      continue;
    }
    if (found.empty()) {
      End(DocFilter::Of(row_count(), {}));
      return arrow::Status::OK();
    }
    part.terms_begin = static_cast<uint32_t>(names_.size());
    std::ranges::move(found, std::back_inserter(names_));
    part.terms_end = static_cast<uint32_t>(names_.size());
    used.push_back(std::move(part));
  }
  parts_ = std::move(used);
  terms_.emplace(*index_, names_.size() <= kTermsKeptMax ? cache_ : nullptr);
  for (const std::string& name : names_) terms_->Add(name);
  state_ = State::kLookup;
  ARROW_RETURN_NOT_OK(terms_->PlanLookup(reads_));
  return reads_.empty() ? AfterLookup() : arrow::Status::OK();
}

arrow::Status PatternSearch::AfterLookup() {
  reads_.clear();
  std::vector<TermNeed> needs(terms_->size(), TermNeed::kNothing);
  std::erase_if(parts_, [&](const Part& part) {
    int64_t documents = 0;
    for (uint32_t term = part.terms_begin; term < part.terms_end; ++term) {
      documents += terms_->document_frequency(term);
    }
    if (documents > index_->summary().row_count / kWorthwhileShare) return true;
    std::fill(needs.begin() + part.terms_begin, needs.begin() + part.terms_end,
              TermNeed::kPostings);
    return false;
  });
  if (parts_.empty()) {
    End(std::nullopt);
    return arrow::Status::OK();
  }
  state_ = State::kPostings;
  ARROW_RETURN_NOT_OK(terms_->PlanPostings(needs, /*lengths=*/false, reads_));
  if (!reads_.empty()) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(terms_->TakePostings({}));
  return Finish();
}

/// The documents with any of the terms that fit.
arrow::Result<DocFilter> PatternSearch::DocumentsOf(const Part& part) const {
  std::vector<DocId> all;
  for (uint32_t term = part.terms_begin; term < part.terms_end; ++term) {
    if (terms_->entry(term) == nullptr) continue;
    for (PostingsCursor cursor(*index_, terms_->postings(term)); !cursor.at_end();
         cursor.NextBlock()) {
      ARROW_ASSIGN_OR_RAISE(const std::span<const DocId> docs, cursor.Docs());
      all.insert(all.end(), docs.begin(), docs.end());
    }
  }
  return DocFilter::Of(row_count(), all);
}

arrow::Status PatternSearch::Finish() {
  std::optional<DocFilter> candidates;
  for (const Part& part : parts_) {
    ARROW_ASSIGN_OR_RAISE(DocFilter documents, DocumentsOf(part));
    if (candidates.has_value()) {
      candidates->Retain(documents);
    } else {
      candidates = std::move(documents);
    }
  }
  End(std::move(candidates));
  return arrow::Status::OK();
}

arrow::Status PatternSearch::Feed(Buffers bytes) {
  bool fits = !reads_.empty() && bytes.size() == reads_.size();
  for (size_t i = 0; i < reads_.size() && fits; ++i) fits = bytes[i]->size() == reads_[i].length;
  if (!fits) {
    return MakeError(ErrorKind::kInternal,
                     "search " + index_->name() + ": fed what was not asked for");
  }
  switch (state_) {
    case State::kTexts: {
      const ByteSpan dictionary(bytes[0]->data(), static_cast<size_t>(bytes[0]->size()));
      ARROW_ASSIGN_OR_RAISE(const auto texts, TermTexts::Read(*index_, dictionary));
      if (cache_ != nullptr) cache_->KeepTexts(index_->uid(), texts);
      return TakeTexts(texts.get());
    }
    case State::kLookup:
      ARROW_RETURN_NOT_OK(terms_->TakeBlocks(bytes));
      return AfterLookup();
    case State::kPostings:
      ARROW_RETURN_NOT_OK(terms_->TakePostings(std::move(bytes)));
      return Finish();
    case State::kStart:
    case State::kDone:
      return arrow::Status::OK();
  }
  return arrow::Status::OK();
}

}  // namespace infino::text
