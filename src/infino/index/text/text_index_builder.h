#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/array/array_base.h>
#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/ids.h"
#include "infino/common/scratch.h"
#include "infino/index_spec.h"

namespace infino::text {

/// What the manifest records of one text index.
struct TextIndexSummary {
  int64_t row_count = 0;
  int64_t rows_with_token = 0;
  int64_t token_total = 0;
  int64_t term_count = 0;
  std::string min_term;  ///< Bytewise; empty without terms.
  std::string max_term;

  friend bool operator==(const TextIndexSummary&, const TextIndexSummary&) = default;
};

/// A written text index. The blob went to the sink; the open part is the caller's to keep, where
/// every search finds it without a read.
struct FinishedTextIndex {
  std::shared_ptr<arrow::Buffer> open_part;
  int64_t blob_length = 0;
  TextIndexSummary summary;
};

/// How a builder is kept from holding more than it may.
struct TextBuildMemory {
  /// A builder that holds more puts what it can into a scratch file, between two rows: all but
  /// 8 bytes a row. To read that back takes some MiB, which is the least limit that holds. 0: it
  /// never does.
  int64_t limit_bytes = 0;

  /// Null if there is no limit.
  std::shared_ptr<ScratchSpace> scratch = {};
};

/// Builds the keyword index of one text column of one superfile, in one pass. The bytes are
/// docs/format/text-index.md; equal rows under equal options give equal bytes.
///
/// Rows come in order, once each. Single-threaded; superfiles are what runs in parallel. After a
/// failure the builder is of no further use. How much memory it may take changes no byte of the
/// result.
class TextIndexBuilder {
  class Impl;

 public:
  /// Called by Finish with every term, in ascending byte order. The view lives for the call.
  using TermVisitor = std::function<void(std::string_view term)>;

  /// `superfile` is written into the blob's head. Fails as Analyzer::Make does.
  [[nodiscard]] static arrow::Result<std::unique_ptr<TextIndexBuilder>> Make(
      const TextIndexOptions& options, const SuperfileId& superfile, TextBuildMemory memory = {});

  TextIndexBuilder(const TextIndexBuilder&) = delete;
  TextIndexBuilder& operator=(const TextIndexBuilder&) = delete;
  TextIndexBuilder(TextIndexBuilder&&) = delete;
  TextIndexBuilder& operator=(TextIndexBuilder&&) = delete;
  ~TextIndexBuilder();

  /// Adds the next rows: utf8, large_utf8 or string_view (anything else is kInvalidArgument). A
  /// null takes a DocId and matches nothing. kResourceExhausted beyond 2^31 - 1 rows or 4 GiB of
  /// postings in memory; a caller that watches memory_bytes() never gets there. Fails as the
  /// scratch space does.
  [[nodiscard]] arrow::Status Add(const arrow::Array& column);

  /// What is held in memory by now, in bytes, and about what Finish needs on top.
  [[nodiscard]] int64_t memory_bytes() const;

  /// What was put into scratch files by now, which is about what it adds to the blob, in bytes.
  [[nodiscard]] int64_t spilled_bytes() const;

  [[nodiscard]] int64_t row_count() const;

  /// Writes the blob at the sink's position, term by term. Called once, last. `visit` may be empty.
  [[nodiscard]] arrow::Result<FinishedTextIndex> Finish(arrow::io::OutputStream& sink,
                                                        const TermVisitor& visit);

  /// For Make, which alone can name an Impl.
  explicit TextIndexBuilder(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace infino::text
