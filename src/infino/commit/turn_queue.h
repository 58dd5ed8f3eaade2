#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include <arrow/result.h>
#include <arrow/util/future.h>

#include "infino/options.h"

namespace infino {

/// Lets callers in one at a time, in the order in which they came. Thread-safe; must outlive its
/// turns. A forked child finds it free.
class TurnQueue {
 public:
  /// Held while it is a caller's turn.
  class Turn {
   public:
    ~Turn();
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class TurnQueue;

    explicit Turn(TurnQueue* queue) : queue_(queue) {}

    TurnQueue* queue_;
  };

  TurnQueue();

  /// Waits for its turn. kCancelled if `stop` says so; kInvalidArgument if the calling thread holds
  /// a turn already, as when the source of an append's rows appends: it would wait for ever.
  [[nodiscard]] arrow::Result<Turn> Take(const StopCondition& stop);

 private:
  using ThreadId = decltype(std::this_thread::get_id());

  struct Ticket {
    uint64_t number = 0;
    arrow::Future<> called = arrow::Future<>::Make();
  };

  void ForgetParent();
  void Leave(uint64_t number);
  void PassOn();

  std::mutex mutex_;
  uint64_t fork_generation_;
  uint64_t last_number_ = 0;
  std::deque<Ticket> tickets_;  ///< The front is the one whose turn it is.
  ThreadId owner_;
};

}  // namespace infino
