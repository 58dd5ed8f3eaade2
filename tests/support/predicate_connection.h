#pragma once

#include <memory>

#include "infino/connection.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"

namespace infino {

/// A connection to the tables in `store` whose predicates are those of row_predicates.h.
[[nodiscard]] std::shared_ptr<Connection> ConnectWithPredicates(
    const std::shared_ptr<ObjectStore>& store, const ConnectOptions& options = {});

}  // namespace infino
