#include "infino/index/text/text_index_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/index/text/block_reader.h"
#include "infino/index/text/length_array.h"
#include "infino/index/text/merge_input.h"
#include "infino/index/text/merge_terms.h"
#include "infino/index/text/text_format.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index/text/text_index_writer.h"

namespace infino::text {
namespace {

constexpr std::string_view kOperation = "merge text indexes: ";

arrow::Status Refuse(const std::string& what) {
  return MakeError(ErrorKind::kInvalidArgument, std::string(kOperation) + what);
}

std::string Describe(const TextIndexReader& index) {
  const AnalyzerFacts& facts = index.analyzer();
  return index.name() + " (analyzer=" + facts.name + " revision=" + std::to_string(facts.revision) +
         " stopwords=" + facts.stopwords + " stemmer=" + facts.stemmer +
         " positions=" + (index.has_positions() ? "yes" : "no") + ")";
}

arrow::Status CheckAlike(std::span<const TextIndexInput> inputs) {
  if (inputs.empty()) return Refuse("there is none");
  const TextIndexReader& first = *inputs.front().index;
  for (const TextIndexInput& input : inputs) {
    if (input.index->analyzer() == first.analyzer() &&
        input.index->has_positions() == first.has_positions()) {
      continue;
    }
    return Refuse(Describe(first) + " and " + Describe(*input.index) + " have different terms");
  }
  return arrow::Status::OK();
}

/// How many documents the result has, if the inputs' documents are numbered from 0 without gaps.
arrow::Result<size_t> CountDocs(std::span<const TextIndexInput> inputs) {
  int64_t total = 0;
  for (const TextIndexInput& input : inputs) {
    const TextIndexReader& index = *input.index;
    if (static_cast<int64_t>(input.new_docs.size()) != index.summary().row_count) {
      return Refuse(index.name() + " has another number of documents than are mapped: documents=" +
                    std::to_string(index.summary().row_count) +
                    " mapped=" + std::to_string(input.new_docs.size()));
    }
    total += std::ranges::count_if(input.new_docs, [](DocId doc) { return doc != kGoneDoc; });
  }
  if (total > kRowCountMax) return Refuse("too many documents");
  std::vector<bool> taken(static_cast<size_t>(total));
  for (const TextIndexInput& input : inputs) {
    int64_t last = -1;
    for (const DocId doc : input.new_docs) {
      if (doc == kGoneDoc) continue;
      if (doc >= taken.size() || taken[doc] || int64_t{doc} <= last) {
        return Refuse("a new document of " + input.index->name() +
                      " is out of order, out of range or taken: document=" + std::to_string(doc));
      }
      taken[doc] = true;
      last = doc;
    }
  }
  return taken.size();
}

/// Puts the lengths of an input's surviving documents where they go.
arrow::Status TakeLengths(const TextIndexInput& input, std::span<uint32_t> lengths) {
  const TextIndexReader& index = *input.index;
  const ByteRange section = index.sections().lengths;
  std::shared_ptr<arrow::Buffer> bytes = std::make_shared<arrow::Buffer>(nullptr, 0);
  if (section.length > 0) {
    ARROW_ASSIGN_OR_RAISE(bytes, input.read(section));
    if (bytes->size() != section.length) {
      return CorruptIndex(
          index.name(), "a read of the blob came short: offset=" + std::to_string(section.offset));
    }
  }
  ARROW_ASSIGN_OR_RAISE(
      const std::shared_ptr<const DocLengths> decoded,
      DocLengths::Decode(index, {bytes->data(), static_cast<size_t>(bytes->size())}));
  for (size_t from = 0; from < input.new_docs.size(); ++from) {
    const DocId doc = input.new_docs[from];
    if (doc != kGoneDoc) lengths[doc] = (*decoded)[static_cast<DocId>(from)];
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<FinishedTextIndex> MergeTextIndexes(std::span<const TextIndexInput> inputs,
                                                  arrow::io::OutputStream& sink,
                                                  const TextIndexMergeOptions& options,
                                                  const TextIndexBuilder::TermVisitor& visit) {
  ARROW_RETURN_NOT_OK(CheckAlike(inputs));
  ARROW_ASSIGN_OR_RAISE(const size_t row_count, CountDocs(inputs));
  std::vector<uint32_t> lengths(row_count);
  std::vector<std::unique_ptr<MergeInput>> streams;
  int64_t total_bytes = 0;
  for (const TextIndexInput& input : inputs) {
    ARROW_RETURN_NOT_OK(TakeLengths(input, lengths));
    // One without documents has no terms, nor a map that says it is empty.
    if (input.new_docs.empty()) continue;
    streams.push_back(std::make_unique<MergeInput>(
        *input.index, input.read, DocMap{.new_docs = input.new_docs}, lengths, options.read_bytes));
    total_bytes += input.index->sections().postings.length;
  }
  const TextIndexReader& first = *inputs.front().index;
  TextIndexWriter writer(sink,
                         {.superfile = options.superfile,
                          .analyzer = first.analyzer(),
                          .has_positions = first.has_positions()},
                         lengths, {.visit = visit});
  ARROW_RETURN_NOT_OK(writer.Begin());
  ARROW_RETURN_NOT_OK(MergeTerms(streams, options.hook, total_bytes, writer));
  return writer.Finish();
}

}  // namespace infino::text
