#pragma once

#include <string_view>

#include "infino/log.h"

namespace infino {

/// Hands a message to the sink of SetLogSink. For what a caller does not learn from a result.
/// Thread-safe.
void Log(LogLevel level, std::string_view message);

/// Whether there is a sink: else a message need not be made.
[[nodiscard]] bool IsLogged();

}  // namespace infino
