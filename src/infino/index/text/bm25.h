#pragma once

#include <cmath>
#include <cstdint>

namespace infino::text {

/// BM25 of one column at one moment: its parameters and the table's average document length.
///
/// These expressions are the definition of a score. They are evaluated in double exactly as they
/// stand (the index layer is built without contraction into fused operations), so that a document
/// scores the same wherever it is stored and however it was found.
struct Bm25 {
  double k1 = 1.2;
  double b = 0.75;
  double average_length = 1;

  /// What the term (or phrase) that weighs `idf` adds to the score of a document of `length` tokens
  /// that it occurs in `frequency` times. Rises with the frequency, falls with the length.
  [[nodiscard]] double Contribution(double idf, double frequency, double length) const {
    return idf * frequency / (frequency + Norm(length));
  }

  /// The part of a contribution that depends on the document's length alone.
  [[nodiscard]] double Norm(double length) const {
    return k1 * (1 - b + b * length / average_length);
  }

  friend bool operator==(const Bm25&, const Bm25&) = default;
};

/// The weight of a term that `document_frequency` of `document_count` documents contain.
/// REQUIRES: 0 <= document_frequency <= document_count.
[[nodiscard]] inline double InverseDocumentFrequency(int64_t document_count,
                                                     int64_t document_frequency) {
  const auto count = static_cast<double>(document_count);
  const auto frequency = static_cast<double>(document_frequency);
  return std::log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

/// Sums of contributions that are added up in different orders differ by less than this factor: a
/// query has at most 2^20 clauses. Bounds are multiplied by it before they are compared.
inline constexpr double kBoundSlack = 1 + 1e-9;

}  // namespace infino::text
