#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <arrow/array/builder_binary.h>
#include <arrow/io/memory.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/term_dictionary.h"
#include "infino/index/text/term_entry.h"
#include "infino/index/text/text_index_builder.h"
#include "infino/index/text/text_index_reader.h"
#include "infino/index_spec.h"

namespace {

void Check(const arrow::Status& status) {
  if (!status.ok()) std::abort();
}

/// An index that the fuzzed block could belong to.
std::shared_ptr<const infino::text::TextIndexReader> Index(bool positions) {
  infino::TextIndexOptions options;
  options.positions = positions;
  const auto builder =
      infino::text::TextIndexBuilder::Make(options, infino::SuperfileId{}).ValueOrDie();
  arrow::StringBuilder texts;
  for (int row = 0; row < 300; ++row) Check(texts.Append("some words " + std::to_string(row)));
  Check(builder->Add(*texts.Finish().ValueOrDie()));
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto finished = builder->Finish(*sink, {}).ValueOrDie();
  return infino::text::TextIndexReader::Open(finished.open_part, finished.blob_length, "fuzzed")
      .ValueOrDie();
}

}  // namespace

/// A dictionary block of any bytes behind one byte that says whether positions are kept: looking
/// terms up and walking agree about what is in it, and stay inside the index.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto kPlain = Index(false);
  static const auto kWithPositions = Index(true);
  if (size == 0) return 0;
  const auto& index = (data[0] & 1) != 0 ? *kWithPositions : *kPlain;
  const auto block =
      infino::text::DictionaryBlock::Open(index, infino::ByteSpan(data + 1, size - 1));
  if (!block.ok()) return 0;
  const auto section = static_cast<uint64_t>(index.sections().postings.length);
  std::string last;
  bool ascending = true;
  const arrow::Status walked =
      block->ForEach([&](std::string_view term, const infino::text::TermEntry& entry) {
        if (entry.offset + entry.postings_length + entry.positions_length > section) std::abort();
        ascending = ascending && (last.empty() || last < term);
        last = term;
        return true;
      });
  const auto found = block->Find(last);
  if (walked.ok() && ascending && !last.empty() && !(found.ok() && found->has_value())) {
    std::abort();
  }
  return 0;
}
