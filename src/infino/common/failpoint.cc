#include "infino/common/failpoint.h"

#include <mutex>
#include <string_view>
#include <utility>

#include "infino/common/never_destroyed.h"

namespace infino {
namespace {

struct Hook {
  std::mutex mutex;
  FailpointHook call;
};

Hook& TheHook() {
  static NeverDestroyed<Hook> hook;
  return hook.value;
}

}  // namespace

void SetFailpointHook(FailpointHook hook) {
  const std::lock_guard lock(TheHook().mutex);
  TheHook().call = std::move(hook);
}

void ReachFailpoint(std::string_view name) {
  FailpointHook call;
  {
    const std::lock_guard lock(TheHook().mutex);
    call = TheHook().call;
  }
  // Outside the lock: the hook may reach a failpoint itself, or set another hook.
  if (call) call(name);
}

}  // namespace infino
