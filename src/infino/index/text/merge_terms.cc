#include "infino/index/text/merge_terms.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/index/text/merge_input.h"
#include "infino/index/text/text_index_merge.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {
namespace {

/// Between two calls of the hook, unless there are long terms.
constexpr uint32_t kTermsPerCall = 256;
constexpr uint32_t kBlocksPerCall = 256;

/// Two heaps, each with the least on top: of the inputs by their terms, and of those that have the
/// current term by their documents.
class TermMerger {
 public:
  TermMerger(std::span<const std::unique_ptr<MergeInput>> inputs, const MergeHook& hook,
             int64_t total_bytes, TextIndexWriter& writer)
      : inputs_(inputs), hook_(&hook), total_bytes_(total_bytes), writer_(&writer) {}

  arrow::Status Run() {
    for (const auto& input : inputs_) ARROW_RETURN_NOT_OK(PushTerm(*input));
    while (!by_term_.empty()) {
      ARROW_RETURN_NOT_OK(MergeTerm());
      if (++terms_ % kTermsPerCall == 0) ARROW_RETURN_NOT_OK(CallHook());
    }
    return CallHook();
  }

 private:
  struct Head {
    DocId doc = 0;
    MergeInput* input = nullptr;
  };

  static bool TermAfter(const MergeInput* left, const MergeInput* right) {
    return left->term() > right->term();
  }

  static bool DocAfter(const Head& left, const Head& right) { return left.doc > right.doc; }

  arrow::Status PushTerm(MergeInput& input) {
    ARROW_ASSIGN_OR_RAISE(const bool found, input.NextTerm());
    if (!found) return arrow::Status::OK();
    by_term_.push_back(&input);
    std::ranges::push_heap(by_term_, TermAfter);
    return arrow::Status::OK();
  }

  arrow::Status PushDoc(MergeInput& input) {
    if (input.at_block_end()) {
      ARROW_ASSIGN_OR_RAISE(const bool found, input.NextBlock());
      if (!found) return arrow::Status::OK();
      if (++blocks_ % kBlocksPerCall == 0) ARROW_RETURN_NOT_OK(CallHook());
    }
    by_doc_.push_back({.doc = input.doc(), .input = &input});
    std::ranges::push_heap(by_doc_, DocAfter);
    return arrow::Status::OK();
  }

  arrow::Status MergeTerm() {
    term_ = by_term_.front()->term();
    having_.clear();
    while (!by_term_.empty() && by_term_.front()->term() == std::string_view(term_)) {
      std::ranges::pop_heap(by_term_, TermAfter);
      having_.push_back(by_term_.back());
      by_term_.pop_back();
    }
    writer_->BeginTerm();
    for (MergeInput* const input : having_) {
      ARROW_RETURN_NOT_OK(input->OpenPostings());
      ARROW_RETURN_NOT_OK(PushDoc(*input));
    }
    while (!by_doc_.empty()) {
      std::ranges::pop_heap(by_doc_, DocAfter);
      MergeInput& input = *by_doc_.back().input;
      by_doc_.pop_back();
      // All that lie before the others' documents, as far as the block goes.
      const DocId end = by_doc_.empty() ? kGoneDoc : by_doc_.front().doc;
      do {
        writer_->Add(input.doc(), input.frequency());
        writer_->AddDifferences(input.differences());
        input.NextDoc();
      } while (!input.at_block_end() && input.doc() < end);
      ARROW_RETURN_NOT_OK(PushDoc(input));
    }
    ARROW_RETURN_NOT_OK(writer_->EndTerm(term_));
    for (MergeInput* const input : having_) ARROW_RETURN_NOT_OK(PushTerm(*input));
    return arrow::Status::OK();
  }

  arrow::Status CallHook() {
    if (!*hook_) return arrow::Status::OK();
    int64_t done = 0;
    for (const auto& input : inputs_) done += input->done_bytes();
    return (*hook_)(done, total_bytes_);
  }

  std::span<const std::unique_ptr<MergeInput>> inputs_;
  const MergeHook* hook_;
  int64_t total_bytes_;
  TextIndexWriter* writer_;
  std::string term_;
  std::vector<MergeInput*> by_term_;
  std::vector<MergeInput*> having_;
  std::vector<Head> by_doc_;
  uint32_t terms_ = 0;
  uint32_t blocks_ = 0;
};

}  // namespace

arrow::Status MergeTerms(std::span<const std::unique_ptr<MergeInput>> inputs, const MergeHook& hook,
                         int64_t total_bytes, TextIndexWriter& writer) {
  return TermMerger(inputs, hook, total_bytes, writer).Run();
}

}  // namespace infino::text
