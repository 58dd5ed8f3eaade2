#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>

#include "infino/catalog/session.h"
#include "infino/connection.h"
#include "infino/options.h"

namespace infino {

/// Connect to whatever `source` gives; `uri` is what the connection calls itself. Connect is this
/// with the store that the URI names; tests bring stores of their own.
[[nodiscard]] arrow::Result<std::shared_ptr<Connection>> ConnectToStore(
    std::string uri, PartsSource source, const ConnectOptions& options);

}  // namespace infino
