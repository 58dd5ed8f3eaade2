#pragma once

#include <cstdint>
#include <memory>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"

namespace infino {

/// Gives the rows of one writer their ids: consecutive within an append, and above all ids given
/// before, also when the clock jumps back. A forked child goes on under another random number, so
/// that it never gives out its parent's ids. Not thread-safe: one append at a time.
class RowIdSource {
 public:
  RowIdSource(std::shared_ptr<Clock> clock, std::shared_ptr<Random> random);

  /// The id of an append's first row. The one at place i gets `Plus(i)`.
  [[nodiscard]] RowId Begin();

  /// Takes the ids of an append out of use, whatever became of it. REQUIRES: `first` is the last
  /// result of Begin.
  void End(const RowId& first, uint64_t row_count);

 private:
  std::shared_ptr<Clock> clock_;
  std::shared_ptr<Random> random_;
  uint64_t fork_generation_;
  uint64_t writer_;  ///< 40 random bits.
  RowId lowest_free_;
};

}  // namespace infino
