#include "infino/index/text/score_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "infino/common/cpu.h"
#include "infino/index/text/bm25.h"
#include "infino/index/text/length_array.h"

namespace infino::text {
namespace {

/// Each operation is rounded for itself, so wider registers change nothing but the time.
[[gnu::always_inline]] inline void ContributeLoop(double idf, const uint32_t* frequencies,
                                                  const double* norms, double* scores,
                                                  size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const auto frequency = static_cast<double>(static_cast<int32_t>(frequencies[i]));
    scores[i] = idf * frequency / (frequency + norms[i]);
  }
}

using ContributeFunction = void (*)(double, const uint32_t*, const double*, double*, size_t);

void ContributePlain(double idf, const uint32_t* frequencies, const double* norms, double* scores,
                     size_t count) {
  ContributeLoop(idf, frequencies, norms, scores, count);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void ContributeAvx2(double idf, const uint32_t* frequencies,
                                                    const double* norms, double* scores,
                                                    size_t count) {
  ContributeLoop(idf, frequencies, norms, scores, count);
}
#endif

ContributeFunction ChooseContribute() {
#if defined(__x86_64__)
  if (ThisCpu().avx2) return &ContributeAvx2;
#endif
  return &ContributePlain;
}

}  // namespace

LengthNorms::LengthNorms(const Bm25& bm25, const DocLengths& lengths)
    : bm25_(bm25), lengths_(&lengths), table_(std::min(lengths.longest() + 1, kTableSize)) {
  for (uint32_t length = 0; length < table_.size(); ++length) table_[length] = bm25.Norm(length);
}

template <typename Length>
void LengthNorms::GatherFrom(const Length* lengths, std::span<const uint32_t> docs,
                             std::span<double> norms) const {
  const double* const table = table_.data();
  if (lengths_->longest() < table_.size()) {
    for (size_t i = 0; i < docs.size(); ++i) norms[i] = table[lengths[docs[i]]];
    return;
  }
  for (size_t i = 0; i < docs.size(); ++i) {
    const uint32_t length = lengths[docs[i]];
    norms[i] = length < table_.size() ? table[length] : bm25_.Norm(length);
  }
}

void LengthNorms::Gather(std::span<const uint32_t> docs, std::span<double> norms) const {
  lengths_->Visit([&](const auto* lengths) { GatherFrom(lengths, docs, norms); });
}

void Contribute(double idf, std::span<const uint32_t> frequencies, std::span<const double> norms,
                std::span<double> scores) {
  static const ContributeFunction kFunction = ChooseContribute();
  kFunction(idf, frequencies.data(), norms.data(), scores.data(), scores.size());
}

}  // namespace infino::text
