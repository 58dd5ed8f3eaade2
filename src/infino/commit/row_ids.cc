#include "infino/commit/row_ids.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "infino/common/clock.h"
#include "infino/common/fork.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"

namespace infino {
namespace {

constexpr int kCounterBits = 24;
constexpr int kWriterBits = 40;

uint64_t DrawWriter(Random& random) {
  return random.Next() >> (64 - kWriterBits);
}

}  // namespace

RowIdSource::RowIdSource(std::shared_ptr<Clock> clock, std::shared_ptr<Random> random)
    : clock_(std::move(clock)),
      random_(std::move(random)),
      fork_generation_(ForkGeneration()),
      writer_(DrawWriter(*random_)) {}

RowId RowIdSource::Begin() {
  if (fork_generation_ != ForkGeneration()) {
    fork_generation_ = ForkGeneration();
    writer_ = DrawWriter(*random_);
    lowest_free_ = RowId{};
  }
  // Milliseconds before 1970 don't fit; such a clock is broken anyway.
  const auto now_ms = static_cast<uint64_t>(std::max<int64_t>(clock_->UnixMs(), 0));
  const RowId by_clock{.high = now_ms, .low = writer_ << kCounterBits};
  return std::max(by_clock, lowest_free_);
}

void RowIdSource::End(const RowId& first, uint64_t row_count) {
  lowest_free_ = first.Plus(row_count);
}

}  // namespace infino
