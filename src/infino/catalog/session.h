#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/catalog/runtime.h"
#include "infino/options.h"

namespace infino {

/// Gives a runtime its store, clock and random numbers: once when the connection is made, and again
/// in every forked child that uses it.
using PartsSource = std::function<arrow::Result<RuntimeParts>()>;

/// What a connection and its table handles share, and what outlives a fork. Thread-safe. The
/// destructor takes the runtime down; on a pool's thread, which can't wait for itself, it leaves
/// that to another one. Requests that nobody waits for any more end by themselves, and before the
/// process does.
///
/// A forked child finds the parent's runtime without its threads, and with locks that nobody will
/// ever open. So the child's first call leaves that runtime where it is, unused and never freed,
/// and makes a new one from the same parts. The store of memory:// is all there is of its data, so
/// the child goes on with a copy of it: a fork while another thread is inside that store can leave
/// its lock closed in the child.
class Session {
  struct OnlyMake {};

 public:
  [[nodiscard]] static arrow::Result<std::shared_ptr<Session>> Make(std::string uri,
                                                                    PartsSource source,
                                                                    const ConnectOptions& options);

  explicit Session(OnlyMake /*only*/) {}

  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;

  /// The runtime of this process; lives as long as the session.
  [[nodiscard]] arrow::Result<Runtime*> runtime();

  [[nodiscard]] const std::string& uri() const { return uri_; }

 private:
  std::string uri_;
  PartsSource source_;
  ConnectOptions options_;

  /// Owned, but not by a smart pointer: the child of a fork can't rely on any that has a lock in
  /// it.
  std::atomic<Runtime*> runtime_ = nullptr;
};

}  // namespace infino
