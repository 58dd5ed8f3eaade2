#pragma once

#include <functional>
#include <string_view>

namespace infino {

/// Called with the name of every failpoint that a thread passes. A crash test ends the process in
/// it.
using FailpointHook = std::function<void(std::string_view name)>;

/// Sets the hook of the process; an empty one removes it. Thread-safe. Without INFINO_FAILPOINTS
/// nothing ever calls it.
void SetFailpointHook(FailpointHook hook);

/// Calls the hook, if there is one. Used through INFINO_FAILPOINT.
void ReachFailpoint(std::string_view name);

}  // namespace infino

/// Marks a place where a crash must be harmless, as in INFINO_FAILPOINT("commit.staged"). Costs
/// nothing unless the build has INFINO_FAILPOINTS.
#if defined(INFINO_FAILPOINTS)
#define INFINO_FAILPOINT(name) ::infino::ReachFailpoint(name)
#else
#define INFINO_FAILPOINT(name) static_cast<void>(0)
#endif
