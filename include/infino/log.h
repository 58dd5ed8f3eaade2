#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace infino {

/// How much a message matters to the operator.
enum class LogLevel : uint8_t {
  kInfo,     ///< Goes its expected way: a commit that another one overtook starts over.
  kWarning,  ///< Went well in the end, but something is wrong: a storage request was repeated.
};

/// Takes messages. Called from any thread, also from several at a time. Must return soon, must not
/// throw, and must not call infino.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Where the messages of all connections of the process go from now on; null: nowhere, which is how
/// it begins. infino never writes to standard output or standard error by itself. Thread-safe; a
/// sink may still be called for a moment after it was replaced, and is kept for good.
void SetLogSink(LogSink sink);

}  // namespace infino
