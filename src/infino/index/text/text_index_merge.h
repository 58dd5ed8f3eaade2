#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Reads a range of an index's blob, exactly as long as asked for. May block.
using BlobRead = std::function<arrow::Result<std::shared_ptr<arrow::Buffer>>(ByteRange range)>;

/// Where a document of an input goes that the result does not have.
inline constexpr DocId kGoneDoc = std::numeric_limits<DocId>::max();

/// A finished index that is to become part of another one.
struct TextIndexInput {
  std::shared_ptr<const TextIndexReader> index;
  BlobRead read;

  /// For each document of the input its number in the result, or kGoneDoc; those that stay ascend.
  std::span<const DocId> new_docs;
};

/// How far a merge is: bytes of postings taken in, and in all. A failure ends the merge with it.
using MergeHook = std::function<arrow::Status(int64_t done, int64_t total)>;

struct TextIndexMergeOptions {
  SuperfileId superfile;  ///< Of the result.

  /// How much is read of an input at a time. Up to three such reads are held for each input.
  int64_t read_bytes = int64_t{1} << 20;

  /// Asked every few hundred terms and between the pieces of long ones. May be empty.
  MergeHook hook = {};
};

/// Makes one index of several without analysing a text again. Every document of the result comes
/// from one document of one input, in any interleaving of the inputs.
///
/// The bytes are those that TextIndexBuilder writes, with the inputs' options, when it is given the
/// texts of the surviving documents in their new order. A term whose documents are all gone is
/// gone. `visit` is called as by TextIndexBuilder::Finish.
///
/// Goes through the terms of all inputs once, in order. Memory: for each input its lengths, a
/// dictionary block, one term's postings and a super-block of its positions (4,096 documents); for
/// the result its lengths, its dictionary and one term's postings, encoded.
///
/// kInvalidArgument if there is no input, if two inputs were analysed differently or differ in
/// having positions (naming both), or if `new_docs` does not number the result's documents.
/// kCorrupt, naming the input, for bytes that break the format. Blocks as `read` does.
[[nodiscard]] arrow::Result<FinishedTextIndex> MergeTextIndexes(
    std::span<const TextIndexInput> inputs, arrow::io::OutputStream& sink,
    const TextIndexMergeOptions& options, const TextIndexBuilder::TermVisitor& visit);

}  // namespace infino::text
