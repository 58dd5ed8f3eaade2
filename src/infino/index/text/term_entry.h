#pragma once

#include <cstdint>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/text/impacts.h"

namespace infino::text {

/// What the dictionary knows of a term.
struct TermEntry {
  uint32_t document_frequency = 0;
  uint64_t total_frequency = 0;

  /// Of all its postings: what bounds its contribution under any BM25.
  Impacts impacts;

  /// The only document, when there is just one: then impacts has its frequency and length, and the
  /// term has no postings.
  DocId single_doc = 0;

  /// In the blob's section of postings; skip data (of terms with more than one block), then blocks,
  /// then positions.
  uint64_t offset = 0;
  uint64_t skip_length = 0;
  uint64_t postings_length = 0;  ///< With the skip data.
  uint64_t positions_length = 0;

  /// The positions when they stand in the dictionary; then positions_length is 0. A view of the
  /// dictionary block.
  ByteSpan inline_positions;
};

}  // namespace infino::text
