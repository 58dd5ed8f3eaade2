#include "infino/index/text/term_texts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_pattern.h"

namespace infino::text {
namespace {

constexpr char kSeparator = '\n';

}  // namespace

arrow::Result<std::shared_ptr<const TermTexts>> TermTexts::Read(const TextIndexReader& index,
                                                                ByteSpan dictionary) {
  auto texts = std::make_shared<TermTexts>(Private());
  texts->all_.push_back(kSeparator);
  if (const std::optional<ByteSpan> only = index.inline_dictionary()) {
    if (index.summary().term_count > 0) ARROW_RETURN_NOT_OK(texts->Append(index, *only));
    return texts;
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<ByteRange> blocks, index.FindDictionaryBlocks(""));
  const int64_t start = index.sections().dictionary.offset;
  for (const ByteRange& block : blocks) {
    ARROW_RETURN_NOT_OK(
        texts->Append(index, dictionary.subspan(static_cast<size_t>(block.offset - start),
                                                static_cast<size_t>(block.length))));
  }
  texts->all_.shrink_to_fit();
  return texts;
}

arrow::Status TermTexts::Append(const TextIndexReader& index, ByteSpan block) {
  ARROW_ASSIGN_OR_RAISE(const DictionaryBlock opened, DictionaryBlock::Open(index, block));
  DictionaryCursor cursor(opened);
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool found, cursor.Next());
    if (!found) return arrow::Status::OK();
    all_ += cursor.term();
    all_.push_back(kSeparator);
    if (IsUnusual(cursor.term())) unusual_.emplace_back(cursor.term());
  }
}

bool TermTexts::Find(const TermConstraint& constraint, size_t terms_max,
                     std::vector<std::string>& terms) const {
  const size_t first = terms.size();
  const size_t limit = first + terms_max;
  for (const std::string& term : unusual_) {
    if (!Fits(constraint, term)) continue;
    if (terms.size() == limit) return false;
    terms.push_back(term);
  }
  const size_t unusual_end = terms.size();
  std::string wanted = constraint.part;
  if (constraint.at_start) wanted.insert(wanted.begin(), kSeparator);
  if (constraint.at_end) wanted.push_back(kSeparator);
  const char* at = all_.data();
  const char* const end = at + all_.size();
  while (true) {
    const auto* const found = static_cast<const char*>(
        memmem(at, static_cast<size_t>(end - at), wanted.data(), wanted.size()));
    if (found == nullptr) return true;
    const char* term = found + (constraint.at_start ? 1 : 0);
    while (term[-1] != kSeparator) --term;
    const auto* const term_end =
        static_cast<const char*>(std::memchr(term, kSeparator, static_cast<size_t>(end - term)));
    const std::string_view text(term, static_cast<size_t>(term_end - term));
    at = term_end;
    if (IsUnusual(text) && std::find(terms.begin() + static_cast<ptrdiff_t>(first),
                                     terms.begin() + static_cast<ptrdiff_t>(unusual_end),
                                     text) != terms.begin() + static_cast<ptrdiff_t>(unusual_end)) {
      continue;
    }
    if (terms.size() == limit) return false;
    terms.emplace_back(text);
  }
}

size_t TermTexts::memory_bytes() const {
  size_t bytes = sizeof(*this) + all_.capacity();
  for (const std::string& term : unusual_) bytes += sizeof(std::string) + term.capacity();
  return bytes;
}

}  // namespace infino::text
