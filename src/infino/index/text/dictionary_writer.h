#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/fst_builder.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/scratch.h"
#include "infino/index/text/term_entry.h"

namespace infino::text {

/// The bytes of a finished dictionary. Either everything is in one block small enough for the open
/// part (then `transducer` is empty), or `blocks` go into the blob.
struct FinishedDictionary {
  bool is_inline = false;
  ByteRange spooled;  ///< What comes before `blocks`, in the scratch file; may be empty.
  std::vector<uint8_t> blocks;
  std::vector<uint8_t> transducer;
};

/// Encodes terms with their entries as front-coded blocks, and a transducer that leads to the block
/// of a term: docs/format/text-index.md, "Dictionary". Keeps what is encoded in memory, or, given a
/// scratch file, the blocks there. Single-threaded.
class DictionaryWriter {
 public:
  /// `scratch` is null, or outlives the writer and has no other one meanwhile.
  DictionaryWriter(bool has_positions, ScratchFile* scratch)
      : has_positions_(has_positions), scratch_(scratch) {}

  /// Adds the next term. REQUIRES: terms ascend, and the offset of an entry is where the postings
  /// and positions of the one before end (0 for the first).
  [[nodiscard]] arrow::Status Add(std::string_view term, const TermEntry& entry);

  [[nodiscard]] arrow::Result<FinishedDictionary> Finish();

  [[nodiscard]] size_t memory_bytes() const { return blocks_.size() + transducer_.size_bytes(); }

 private:
  void EncodeEntry(std::string_view term, size_t shared, const TermEntry& entry);
  [[nodiscard]] arrow::Status EndBlock();

  bool has_positions_;
  ScratchFile* scratch_;
  ByteRange spooled_;
  ByteWriter blocks_;  // behind what is spooled
  FstBuilder transducer_;
  ByteWriter entry_;   // scratch
  ByteWriter body_;    // the entries of the open block
  uint64_t base_ = 0;  // where the postings of the open block start
  uint32_t entry_count_ = 0;
  uint32_t block_count_ = 0;
  std::string separator_;  // above all terms before the open block, up to its first term
  std::string last_term_;
};

}  // namespace infino::text
