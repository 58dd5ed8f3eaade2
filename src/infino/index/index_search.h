#pragma once

#include <vector>

#include <arrow/status.h>

#include "infino/common/byte_range.h"

namespace infino {

/// One query on one index, as rounds of reads with computing between them.
///
/// It does no IO itself: the executor fetches what NextReads asks for and hands the bytes to Feed,
/// until no more are wanted. Every kind of search states in its class comment how many rounds a
/// cold one takes, and whether it pauses between them for something that only the executor knows; a
/// test holds it to that. Single-threaded, but it may move between threads from call to call.
class IndexSearch {
 public:
  IndexSearch() = default;
  IndexSearch(const IndexSearch&) = delete;
  IndexSearch& operator=(const IndexSearch&) = delete;
  IndexSearch(IndexSearch&&) = delete;
  IndexSearch& operator=(IndexSearch&&) = delete;
  virtual ~IndexSearch() = default;

  /// The ranges of the blob needed next, in one round; empty when the search is done or pauses.
  /// Asking again without Feed gives the same answer.
  [[nodiscard]] virtual std::vector<ByteRange> NextReads() = 0;

  /// Takes the bytes of the last NextReads, in its order, and computes as far as they go.
  /// REQUIRES: one buffer per range asked for, each of the length asked for.
  [[nodiscard]] virtual arrow::Status Feed(Buffers bytes) = 0;
};

}  // namespace infino
