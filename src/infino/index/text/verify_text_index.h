#pragma once

#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/index/text/text_index_reader.h"

namespace infino::text {

/// Decodes all of a text index and holds its parts against each other, which checksums can't: the
/// head names `superfile`; terms ascend, and the transducer finds each block; documents ascend and
/// exist; frequencies, lengths and positions say the same of every document; impacts bound their
/// postings and are no better than them; totals are those of the open part.
///
/// Fails with kCorrupt at the first fault, naming the index, the part and where it is. Reads the
/// blob in order, postings twice where there are positions. Holds the section of lengths and some
/// MiB. Blocks on `blob`.
[[nodiscard]] arrow::Status VerifyTextIndex(const TextIndexReader& index, const RangeReader& blob,
                                            const SuperfileId& superfile);

}  // namespace infino::text
