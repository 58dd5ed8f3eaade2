#include "infino/index/text/token_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "infino/common/ids.h"
#include "infino/index/text/byte_arena.h"
#include "infino/index/text/term_table.h"

namespace infino::text {
namespace {

/// A varint of 32 bits, and two of them.
constexpr size_t kVarintMax = 5;

/// How many terms ahead their records are asked for; half of that, the ends of their postings.
constexpr size_t kFetchAhead = 8;

/// Writes numbers where there is room enough.
class RawWriter {
 public:
  explicit RawWriter(std::vector<uint8_t>& room) : begin_(room.data()), at_(begin_) {}

  void Varint(uint32_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<uint8_t>(value);
  }

  [[nodiscard]] std::span<const uint8_t> bytes() const { return {begin_, at_}; }

 private:
  uint8_t* begin_;
  uint8_t* at_;
};

}  // namespace

int64_t TokenBatch::memory_bytes() const {
  return static_cast<int64_t>((terms_.capacity() + touched_.capacity() + next_.capacity()) *
                                  sizeof(uint32_t) +
                              (places_.capacity() + grouped_.capacity()) * sizeof(uint64_t) +
                              postings_.capacity() + positions_.capacity());
}

void TokenBatch::MoveTo(TermTable& table) {
  if (terms_.empty()) return;
  Group(table.size());
  uint32_t begin = 0;
  for (size_t i = 0; i < touched_.size(); ++i) {
    if (i + kFetchAhead < touched_.size()) table.FetchRecord(touched_[i + kFetchAhead]);
    if (i + kFetchAhead / 2 < touched_.size()) table.FetchPostings(touched_[i + kFetchAhead / 2]);
    uint32_t& end = next_[touched_[i]];
    AddTerm(touched_[i], std::span(grouped_).subspan(begin, end - begin), table);
    begin = end;
    end = 0;
  }
  terms_.clear();
  places_.clear();
  touched_.clear();
}

/// A stable counting sort.
void TokenBatch::Group(uint32_t term_count) {
  if (next_.size() < term_count) next_.resize(term_count);
  for (const uint32_t term : terms_) {
    if (next_[term]++ == 0) touched_.push_back(term);
  }
  uint32_t begin = 0;
  for (const uint32_t term : touched_) {
    const uint32_t count = next_[term];
    next_[term] = begin;
    begin += count;
  }
  if (grouped_.size() < places_.size()) grouped_.resize(places_.size());
  for (size_t i = 0; i < terms_.size(); ++i) grouped_[next_[terms_[i]]++] = places_[i];
}

void TokenBatch::AddTerm(uint32_t term, std::span<const uint64_t> places, TermTable& table) {
  if (postings_.size() < places.size() * 2 * kVarintMax) {
    postings_.resize(places.size() * 2 * kVarintMax);
    positions_.resize(places.size() * kVarintMax);
  }
  RawWriter postings(postings_);
  RawWriter positions(positions_);
  TermRecord& record = table.record(term);
  uint32_t last_position = 0;
  uint32_t last_doc = record.last_doc;
  uint32_t frequency = record.frequency;
  uint32_t document_count = record.document_count;
  if (table.has_positions()) last_position = table.positions(term).last;
  for (const uint64_t place : places) {
    const auto doc = static_cast<DocId>(place >> 32);
    const auto position = static_cast<uint32_t>(place);
    if (document_count > 0 && doc == last_doc) {
      ++frequency;
      positions.Varint(position - last_position);
    } else {
      if (document_count == 0) {
        record.first_doc = doc;
      } else {
        postings.Varint((doc - last_doc) * 2 + (frequency == 1 ? 1 : 0));
        if (frequency != 1) postings.Varint(frequency);
      }
      last_doc = doc;
      frequency = 1;
      ++document_count;
      positions.Varint(position);
    }
    last_position = position;
  }
  record.last_doc = last_doc;
  record.frequency = frequency;
  record.document_count = document_count;
  record.postings.Append(postings.bytes(), table.arena());
  if (!table.has_positions()) return;
  PositionRecord& position_record = table.positions(term);
  position_record.stream.Append(positions.bytes(), table.arena());
  position_record.last = last_position;
}

}  // namespace infino::text
