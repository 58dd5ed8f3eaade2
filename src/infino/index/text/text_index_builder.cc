#include "infino/index/text/text_index_builder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/array_binary.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/analyzer.h"
#include "infino/index/text/byte_arena.h"
#include "infino/index/text/term_key.h"
#include "infino/index/text/term_runs.h"
#include "infino/index/text/term_table.h"
#include "infino/index/text/term_table_writer.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_writer.h"
#include "infino/index/text/token_batch.h"
#include "infino/index_spec.h"

namespace infino::text {
namespace {

/// How many tokens are looked up at once.
constexpr size_t kPendingMax = 64;

/// How many tokens are collected before they are grouped: few enough for a cache, many enough that
/// common terms come often. Under a limit of memory, about a sixth of it.
constexpr int64_t kBatchTokens = int64_t{128} << 10;
constexpr int64_t kBatchPerLimit = 192;

size_t BatchTokens(int64_t limit_bytes) {
  if (limit_bytes == 0) return kBatchTokens;
  return static_cast<size_t>(
      std::clamp<int64_t>(limit_bytes / kBatchPerLimit, kPendingMax, kBatchTokens));
}

/// What a term takes in the encoded dictionary, about.
constexpr int64_t kDictionaryBytesPerTerm = 14;

/// Rows are few bytes beside a limit, but they stay: a run is at least this part of it.
constexpr int64_t kRunsPerLimit = 4;

/// Well below the 4 GiB that a table's postings can have.
constexpr int64_t kLimitMax = int64_t{3} << 30;

/// What a row may take on top while the longest list of postings is encoded.
constexpr int64_t kEncodeBytesPerRow = 4;

}  // namespace

class TextIndexBuilder::Impl {
 public:
  Impl(std::unique_ptr<Analyzer> analyzer, const TextIndexOptions& options, TextIndexHead head,
       TextBuildMemory memory)
      : analyzer_(std::move(analyzer)),
        head_(std::move(head)),
        limit_bytes_(memory.limit_bytes > 0 ? std::min(memory.limit_bytes, kLimitMax) : 0),
        terms_(options.positions),
        batch_(BatchTokens(limit_bytes_)),
        runs_(std::move(memory.scratch), head_, limit_bytes_ / 2),
        pending_text_(kPendingMax * kTermLengthMax) {}

  template <typename ArrayType>
  arrow::Status AddAll(const arrow::Array& column) {
    const auto& texts = arrow::internal::checked_cast<const ArrayType&>(column);
    if (column.length() > kRowCountMax - row_count()) {
      return MakeError(ErrorKind::kResourceExhausted, "build text index: too many rows");
    }
    for (int64_t i = 0; i < texts.length(); ++i) {
      if (texts.IsNull(i)) {
        lengths_.push_back(0);
      } else {
        ARROW_RETURN_NOT_OK(AddText(texts.GetView(i)));
      }
      if (IsFull()) ARROW_RETURN_NOT_OK(Spill());
    }
    return IsFull() ? Spill() : arrow::Status::OK();
  }

  [[nodiscard]] int64_t row_count() const { return static_cast<int64_t>(lengths_.size()); }

  [[nodiscard]] int64_t memory_bytes() const {
    // The table is gone before runs are merged.
    return kept_bytes() + std::max(table_bytes(), runs_.merge_bytes());
  }

  [[nodiscard]] int64_t spilled_bytes() const { return runs_.size_bytes(); }

  arrow::Result<FinishedTextIndex> Finish(arrow::io::OutputStream& sink, const TermVisitor& visit) {
    // What has begun to be put out of memory does not come back: the postings to write and those
    // that were collected are never both there.
    if (!runs_.empty() && runs_.end() < lengths_.size()) ARROW_RETURN_NOT_OK(Spill());
    ARROW_RETURN_NOT_OK(AddBatch());
    TextIndexWriter writer(sink, head_, lengths_, {.visit = visit, .scratch = runs_.file()});
    ARROW_RETURN_NOT_OK(writer.Begin());
    ARROW_RETURN_NOT_OK(runs_.empty() ? WriteTerms(terms_, writer)
                                      : runs_.WriteTerms(lengths_, writer));
    return writer.Finish();
  }

 private:
  /// A token that waits for its turn, so that many can be looked up at once.
  struct PendingToken {
    TermKey key;
    DocId doc = 0;
    uint32_t position = 0;
  };

  arrow::Status AddText(std::string_view text) {
    const DocId doc = static_cast<DocId>(lengths_.size()) - runs_.end();
    uint32_t length = 0;
    bool fits = true;
    const auto add = [this, doc, &length, &fits](const Token& token) {
      if (token.text.size() > kTermLengthMax) {
        fits = false;
        return;
      }
      ++length;
      Push(token, doc);
    };
    ARROW_RETURN_NOT_OK(analyzer_->Analyze(text, add));
    if (length > kDocumentLengthMax) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "build text index: a text has more than 2^30 tokens: row=" +
                           std::to_string(lengths_.size()));
    }
    if (!fits) {
      return MakeError(ErrorKind::kInternal, "build text index: analyzer gave a long term");
    }
    lengths_.push_back(length);
    return CheckArena();
  }

  [[nodiscard]] arrow::Status CheckArena() const {
    if (!terms_.arena().exhausted()) return arrow::Status::OK();
    return MakeError(ErrorKind::kResourceExhausted,
                     "build text index: more than 4 GiB of postings in one superfile");
  }

  void Push(const Token& token, DocId doc) {
    PendingToken& pending = pending_[pending_count_];
    pending = {.key = MakeTermKey(token.text), .doc = doc, .position = token.position};
    if (!pending.key.rest.empty()) {
      // The token's text does not outlive the call.
      const ByteSpan rest = AsBytes(pending.key.rest);
      uint8_t* const copy = pending_text_.data() + pending_text_size_;
      CopySmall(rest.data(), rest.size(), copy);
      pending.key.rest = AsText({copy, rest.size()});
      pending_text_size_ += rest.size();
    }
    terms_.FetchSlot(pending.key);
    if (++pending_count_ == kPendingMax) AddPending();
  }

  /// Looks the pending tokens' terms up.
  void AddPending() {
    const auto pending = std::span(pending_).first(pending_count_);
    for (const PendingToken& token : pending) {
      if (!token.key.rest.empty()) terms_.FetchLong(token.key);
    }
    for (const PendingToken& token : pending) {
      if (!token.key.rest.empty()) terms_.FetchRest(token.key);
    }
    for (const PendingToken& token : pending) {
      if (batch_.full()) batch_.MoveTo(terms_);
      batch_.Add(terms_.FindOrAdd(token.key), token.doc, token.position);
    }
    pending_count_ = 0;
    pending_text_size_ = 0;
  }

  arrow::Status AddBatch() {
    AddPending();
    batch_.MoveTo(terms_);
    return CheckArena();
  }

  /// What spilling gives back, and what it does not.
  [[nodiscard]] int64_t table_bytes() const {
    return terms_.memory_bytes() + int64_t{terms_.size()} * kDictionaryBytesPerTerm;
  }

  [[nodiscard]] int64_t kept_bytes() const {
    return static_cast<int64_t>(lengths_.capacity() * sizeof(uint32_t)) +
           row_count() * kEncodeBytesPerRow + runs_.memory_bytes() + batch_.memory_bytes();
  }

  /// Whether there is too much in memory, and enough of it to be worth a run.
  [[nodiscard]] bool IsFull() const {
    const int64_t table = table_bytes();
    return limit_bytes_ > 0 && table > limit_bytes_ / kRunsPerLimit &&
           kept_bytes() + table > limit_bytes_;
  }

  arrow::Status Spill() {
    ARROW_RETURN_NOT_OK(AddBatch());
    batch_.ForgetTerms();
    return runs_.Add(terms_, lengths_);
  }

  std::unique_ptr<Analyzer> analyzer_;
  TextIndexHead head_;
  int64_t limit_bytes_;
  TermTable terms_;   // of the documents that are in no run, counted from the first of them
  TokenBatch batch_;  // of tokens that are found and not yet in terms_
  TermRuns runs_;
  std::vector<uint32_t> lengths_;  // of the documents, in tokens
  std::array<PendingToken, kPendingMax> pending_;
  size_t pending_count_ = 0;
  std::vector<uint8_t> pending_text_;  // room for the pending tokens' rests, one behind the other
  size_t pending_text_size_ = 0;
};

TextIndexBuilder::TextIndexBuilder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TextIndexBuilder::~TextIndexBuilder() = default;

arrow::Result<std::unique_ptr<TextIndexBuilder>> TextIndexBuilder::Make(
    const TextIndexOptions& options, const SuperfileId& superfile, TextBuildMemory memory) {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<Analyzer> analyzer, Analyzer::Make(options));
  TextIndexHead head{.superfile = superfile,
                     .analyzer = {.name = options.analyzer,
                                  .revision = kAnalysisRevision,
                                  .stopwords = options.stopwords.value_or(""),
                                  .stemmer = options.stemmer.value_or("")},
                     .has_positions = options.positions};
  auto impl =
      std::make_unique<Impl>(std::move(analyzer), options, std::move(head), std::move(memory));
  return std::make_unique<TextIndexBuilder>(std::move(impl));
}

arrow::Status TextIndexBuilder::Add(const arrow::Array& column) {
  switch (column.type_id()) {
    case arrow::Type::STRING:
      return impl_->AddAll<arrow::StringArray>(column);
    case arrow::Type::LARGE_STRING:
      return impl_->AddAll<arrow::LargeStringArray>(column);
    case arrow::Type::STRING_VIEW:
      return impl_->AddAll<arrow::StringViewArray>(column);
    default:
      return MakeError(ErrorKind::kInvalidArgument,
                       "build text index: no text column: type=" + column.type()->ToString());
  }
}

int64_t TextIndexBuilder::memory_bytes() const {
  return impl_->memory_bytes();
}

int64_t TextIndexBuilder::spilled_bytes() const {
  return impl_->spilled_bytes();
}

int64_t TextIndexBuilder::row_count() const {
  return impl_->row_count();
}

arrow::Result<FinishedTextIndex> TextIndexBuilder::Finish(arrow::io::OutputStream& sink,
                                                          const TermVisitor& visit) {
  return impl_->Finish(sink, visit);
}

}  // namespace infino::text
