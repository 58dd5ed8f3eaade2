#include "infino/catalog/session.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <arrow/result.h>

#include "infino/catalog/runtime.h"
#include "infino/common/fork.h"
#include "infino/common/pool_threads.h"
#include "infino/options.h"

namespace infino {

arrow::Result<std::shared_ptr<Session>> Session::Make(std::string uri, PartsSource source,
                                                      const ConnectOptions& options) {
  auto session = std::make_shared<Session>(OnlyMake{});
  session->uri_ = std::move(uri);
  session->source_ = std::move(source);
  session->options_ = options;
  ARROW_RETURN_NOT_OK(session->runtime());
  return session;
}

Session::~Session() {
  std::unique_ptr<Runtime> last(runtime_.exchange(nullptr));
  if (last == nullptr) return;
  // Another process's runtime can't be taken down: its threads are not here to be joined.
  if (last->generation() != ForkGeneration()) {
    [[maybe_unused]] Runtime* left = last.release();
    return;
  }
  // A caller's rows may hold the last handle, and a task of ours be the last that holds the rows.
  RunOffPool([last = std::move(last)]() mutable { last.reset(); });
}

arrow::Result<Runtime*> Session::runtime() {
  Runtime* seen = runtime_.load(std::memory_order_acquire);
  if (seen != nullptr && seen->generation() == ForkGeneration()) return seen;
  ARROW_ASSIGN_OR_RAISE(RuntimeParts parts, source_());
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<Runtime> made, Runtime::Make(std::move(parts), options_));
  if (runtime_.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return seen;  // Another thread was faster.
}

}  // namespace infino
