#pragma once

#include <cstdint>

namespace infino {

/// How many forks lie between this process and the one that asked first. Whoever keeps threads or
/// connections remembers it and builds them anew once it has changed. Thread-safe; cheap after the
/// first call, which installs the handler: a fork before it isn't counted.
[[nodiscard]] uint64_t ForkGeneration();

}  // namespace infino
