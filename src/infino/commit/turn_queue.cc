#include "infino/commit/turn_queue.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/fork.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"

namespace infino {

TurnQueue::Turn::~Turn() {
  if (queue_ != nullptr) queue_->PassOn();
}

TurnQueue::Turn::Turn(Turn&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}

TurnQueue::TurnQueue() : fork_generation_(ForkGeneration()) {}

arrow::Result<TurnQueue::Turn> TurnQueue::Take(const StopCondition& stop) {
  Ticket ticket;
  {
    const std::lock_guard lock(mutex_);
    ForgetParent();
    if (!tickets_.empty() && owner_ == std::this_thread::get_id()) {
      return MakeError(ErrorKind::kInvalidArgument,
                       "this thread is changing the table already: the rows' source can't change "
                       "the table it feeds");
    }
    ticket.number = ++last_number_;
    tickets_.push_back(ticket);
    if (tickets_.size() == 1) ticket.called.MarkFinished();
  }
  const arrow::Status waited = WaitDone(ticket.called, stop);
  if (!waited.ok()) {
    Leave(ticket.number);
    return waited;
  }
  const std::lock_guard lock(mutex_);
  owner_ = std::this_thread::get_id();
  return Turn(this);
}

void TurnQueue::ForgetParent() {
  if (fork_generation_ == ForkGeneration()) return;
  fork_generation_ = ForkGeneration();
  tickets_.clear();
  owner_ = ThreadId();
}

void TurnQueue::Leave(uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    // At the front its turn came just when its taker gave up: it is somebody else's now.
    if (tickets_.empty() || tickets_.front().number != number) {
      std::erase_if(tickets_, [&](const Ticket& ticket) { return ticket.number == number; });
      return;
    }
  }
  PassOn();
}

void TurnQueue::PassOn() {
  const std::lock_guard lock(mutex_);
  owner_ = ThreadId();
  if (!tickets_.empty()) tickets_.pop_front();
  if (!tickets_.empty()) tickets_.front().called.MarkFinished();
}

}  // namespace infino
