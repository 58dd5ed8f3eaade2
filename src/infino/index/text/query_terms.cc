#include "infino/index/text/query_terms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/positions_reader.h"
#include "infino/index/text/postings_cache.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/term_postings.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {
namespace {

ByteSpan BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

std::shared_ptr<KnownTerm> MakeKnown(std::optional<TermEntry> entry) {
  auto known = std::make_shared<KnownTerm>();
  if (entry.has_value()) {
    // A view of the dictionary block, which may be gone when the positions are wanted.
    const ByteSpan positions = entry->inline_positions;
    known->inline_positions.assign(positions.begin(), positions.end());
    entry->inline_positions = known->inline_positions;
  }
  known->entry = std::move(entry);
  return known;
}

}  // namespace

void QueryTerms::Add(const std::string& term) {
  Term added{.name = &term, .known = nullptr, .positions = nullptr, .keep = true};
  if (cache_ != nullptr) added.known = cache_->FindTerm(index_->uid(), term);
  if (added.known == nullptr) unknown_.push_back(static_cast<uint32_t>(terms_.size()));
  terms_.push_back(std::move(added));
}

void QueryTerms::AddAbsent(const std::string& term) {
  static const std::shared_ptr<const KnownTerm> kAbsent = std::make_shared<KnownTerm>();
  terms_.push_back({.name = &term, .known = kAbsent, .positions = nullptr, .keep = false});
}

void QueryTerms::AddFound(const std::string& term, const TermEntry& entry) {
  terms_.push_back({.name = &term, .known = MakeKnown(entry), .positions = nullptr, .keep = false});
}

void QueryTerms::Know(uint32_t term, std::optional<TermEntry> entry) {
  Term& found = terms_[term];
  found.known = MakeKnown(std::move(entry));
  if (cache_ != nullptr) cache_->KeepTerm(index_->uid(), *found.name, found.known);
}

arrow::Status QueryTerms::PlanLookup(std::vector<ByteRange>& reads) {
  if (const std::optional<ByteSpan> dictionary = index_->inline_dictionary()) {
    const std::vector<uint32_t> all = std::exchange(unknown_, {});
    if (index_->summary().term_count > 0 && !all.empty()) return FindIn(*dictionary, all);
    for (const uint32_t term : all) Know(term, std::nullopt);
    return arrow::Status::OK();
  }

  struct Lookup {
    ByteRange block;
    uint32_t term;
  };

  std::vector<Lookup> lookups;
  for (const uint32_t term : std::exchange(unknown_, {})) {
    ARROW_ASSIGN_OR_RAISE(const std::optional<ByteRange> block,
                          index_->FindDictionaryBlock(*terms_[term].name));
    if (block.has_value()) {
      lookups.push_back({.block = *block, .term = term});
    } else {
      Know(term, std::nullopt);
    }
  }
  std::ranges::stable_sort(lookups, {}, [](const Lookup& lookup) { return lookup.block.offset; });
  const size_t first = reads.size();
  for (const Lookup& lookup : lookups) {
    if (reads.size() == first || reads.back() != lookup.block) {
      reads.push_back(lookup.block);
      lookups_.emplace_back();
    }
    lookups_.back().push_back(lookup.term);
  }
  return arrow::Status::OK();
}

arrow::Status QueryTerms::FindIn(ByteSpan block, std::span<const uint32_t> terms) {
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock dictionary, DictionaryBlock::Open(*index_, block));
  for (const uint32_t term : terms) {
    ARROW_ASSIGN_OR_RAISE(std::optional<TermEntry> entry, dictionary.Find(*terms_[term].name));
    Know(term, std::move(entry));
  }
  return arrow::Status::OK();
}

arrow::Status QueryTerms::TakeBlocks(std::span<const std::shared_ptr<arrow::Buffer>> bytes) {
  for (size_t i = 0; i < lookups_.size(); ++i) {
    ARROW_RETURN_NOT_OK(FindIn(BytesOf(*bytes[i]), lookups_[i]));
  }
  lookups_.clear();
  return arrow::Status::OK();
}

arrow::Status QueryTerms::PlanPostings(std::span<const TermNeed> needs, bool lengths,
                                       std::vector<ByteRange>& reads) {
  const int64_t start = index_->sections().postings.offset;
  for (uint32_t term = 0; term < needs.size(); ++term) {
    const TermEntry* const found = entry(term);
    if (needs[term] == TermNeed::kNothing || found == nullptr) continue;
    // The entry's owner: opening the postings replaces what is known.
    const std::shared_ptr<const KnownTerm> known = terms_[term].known;
    const int64_t offset = start + static_cast<int64_t>(found->offset);
    const auto length = static_cast<int64_t>(found->postings_length);
    if (terms_[term].known->postings == nullptr) {
      if (found->document_frequency == 1) {
        ARROW_RETURN_NOT_OK(OpenPostings(terms_[term], *found, nullptr));
      } else {
        planned_.push_back({.term = term, .positions = false});
        reads.push_back({.offset = offset, .length = length});
      }
    }
    if (needs[term] == TermNeed::kPositions && found->positions_length > 0) {
      planned_.push_back({.term = term, .positions = true});
      reads.push_back(
          {.offset = offset + length, .length = static_cast<int64_t>(found->positions_length)});
    }
  }
  if (!lengths) return arrow::Status::OK();
  if (cache_ != nullptr) lengths_ = cache_->FindLengths(index_->uid());
  reads_lengths_ = lengths_ == nullptr;
  if (reads_lengths_) reads.push_back(index_->sections().lengths);
  return arrow::Status::OK();
}

arrow::Status QueryTerms::OpenPostings(Term& term, const TermEntry& entry,
                                       const std::shared_ptr<arrow::Buffer>& bytes) {
  auto known = MakeKnown(entry);
  ARROW_ASSIGN_OR_RAISE(known->postings, TermPostings::Open(*index_, entry, bytes));
  term.known = std::move(known);
  if (cache_ != nullptr && term.keep) cache_->KeepTerm(index_->uid(), *term.name, term.known);
  return arrow::Status::OK();
}

arrow::Status QueryTerms::TakePostings(Buffers bytes) {
  for (size_t i = 0; i < planned_.size(); ++i) {
    Term& term = terms_[planned_[i].term];
    if (planned_[i].positions) {
      term.positions = std::move(bytes[i]);
      continue;
    }
    ARROW_RETURN_NOT_OK(OpenPostings(term, *entry(planned_[i].term), bytes[i]));
  }
  if (!reads_lengths_) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(lengths_, DocLengths::Decode(*index_, BytesOf(*bytes.back())));
  if (cache_ != nullptr) cache_->KeepLengths(index_->uid(), lengths_);
  return arrow::Status::OK();
}

arrow::Result<PositionsReader> QueryTerms::OpenPositions(uint32_t term) const {
  return PositionsReader::Make(*index_, *entry(term), terms_[term].positions);
}

}  // namespace infino::text
