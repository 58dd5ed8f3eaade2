#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infino/index/text/bm25.h"
#include "infino/index/text/length_array.h"

namespace infino::text {

/// What BM25 adds to the frequency below the line, `k1 * (1 - b + b * length / average)`, by
/// length: a table for short documents, the expression itself for longer ones. Belongs to one query
/// on one index. `lengths` outlives it.
class LengthNorms {
 public:
  LengthNorms(const Bm25& bm25, const DocLengths& lengths);

  [[nodiscard]] const DocLengths& lengths() const { return *lengths_; }

  /// The norms of `docs`. REQUIRES: norms.size() >= docs.size(), each below the row count.
  void Gather(std::span<const uint32_t> docs, std::span<double> norms) const;

 private:
  static constexpr uint32_t kTableSize = 1024;

  template <typename Length>
  void GatherFrom(const Length* lengths, std::span<const uint32_t> docs,
                  std::span<double> norms) const;

  Bm25 bm25_;
  const DocLengths* lengths_;
  std::vector<double> table_;
};

/// scores[i] = idf * frequencies[i] / (frequencies[i] + norms[i]): Bm25::Contribution, of many.
/// The result is the same on every processor. REQUIRES: all spans have the size of `scores`, no
/// frequency is above 2^31 - 1.
void Contribute(double idf, std::span<const uint32_t> frequencies, std::span<const double> norms,
                std::span<double> scores);

}  // namespace infino::text
