#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_query.h"
#include "infino/index/text/text_search.h"

namespace {

using infino::text::TextIndexReader;
using infino::text::TextQuery;
using infino::text::TextSearch;
using infino::text::TextSearchMode;

TextQuery MakeQuery(const TextIndexReader& index) {
  TextQuery query;
  query.terms = {index.summary().min_term, index.summary().max_term, "a", "b"};
  for (uint32_t term = 0; term < query.terms.size(); ++term) {
    query.clause_terms.push_back({.term = term});
    query.clauses.push_back({.terms_begin = term, .terms_end = term + 1});
  }
  query.clauses.back().occur = infino::text::Occur::kMustNot;
  return query;
}

arrow::Status Drive(TextSearch& search, infino::ByteSpan blob) {
  for (int round = 0; round < 4; ++round) {
    ARROW_RETURN_NOT_OK(search.Resume());
    const std::vector<infino::ByteRange> ranges = search.NextReads();
    if (ranges.empty()) return arrow::Status::OK();
    infino::Buffers bytes;
    for (const infino::ByteRange& range : ranges) {
      // Every range must lie in the blob whose length the reader was told.
      if (range.offset < 0 || range.length < 0 || range.end() > static_cast<int64_t>(blob.size())) {
        std::abort();
      }
      const auto part =
          blob.subspan(static_cast<size_t>(range.offset), static_cast<size_t>(range.length));
      bytes.push_back(infino::ToBuffer({part.begin(), part.end()}));
    }
    ARROW_RETURN_NOT_OK(search.Feed(std::move(bytes)));
  }
  std::abort();  // more rounds than a search may take
}

arrow::Status Search(const TextIndexReader& index, infino::ByteSpan blob, TextSearchMode mode) {
  const TextQuery query = MakeQuery(index);
  ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<TextSearch> search,
                        TextSearch::Make(index, query, nullptr, {.mode = mode, .k = 3}));
  ARROW_RETURN_NOT_OK(Drive(*search, blob));
  if (mode == TextSearchMode::kRanked) {
    const std::span<const int64_t> frequencies = search->document_frequencies();
    ARROW_RETURN_NOT_OK(
        search->SetStatistics({.rows_with_token = index.summary().rows_with_token,
                               .token_total = index.summary().token_total,
                               .document_frequencies = {frequencies.begin(), frequencies.end()}}));
    ARROW_RETURN_NOT_OK(Drive(*search, blob));
    for (const infino::ScoredDoc& doc : search->TopDocs()) {
      if (doc.doc >= index.summary().row_count) std::abort();
    }
  }
  return arrow::Status::OK();
}

}  // namespace

/// Two bytes of length, an open part that long, the blob: opened and searched in every mode. Built
/// with FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, which makes every checksum right.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t open_length = std::min<size_t>(infino::LoadU16(data), size - 2);
  const infino::ByteSpan all(data + 2, size - 2);
  const infino::ByteSpan open_part = all.first(open_length);
  const infino::ByteSpan blob = all.subspan(open_length);
  const auto index = TextIndexReader::Open(infino::ToBuffer({open_part.begin(), open_part.end()}),
                                           static_cast<int64_t>(blob.size()), "fuzzed");
  if (!index.ok()) return 0;
  for (const TextSearchMode mode :
       {TextSearchMode::kRanked, TextSearchMode::kMatchAll, TextSearchMode::kCount}) {
    static_cast<void>(Search(**index, blob, mode));
  }
  return 0;
}
