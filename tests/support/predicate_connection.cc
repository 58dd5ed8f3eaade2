#include "support/predicate_connection.h"

#include <memory>

#include <arrow/result.h>

#include "infino/catalog/connect_to_store.h"
#include "infino/catalog/runtime.h"
#include "infino/catalog/session.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/connection.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "support/row_predicates.h"

namespace infino {

std::shared_ptr<Connection> ConnectWithPredicates(const std::shared_ptr<ObjectStore>& store,
                                                  const ConnectOptions& options) {
  const PartsSource source = [store]() -> arrow::Result<RuntimeParts> {
    return RuntimeParts{.store = store,
                        .clock = SystemClock(),
                        .random = Random::FromSystem(),
                        .row_selector = MakeRowPredicates()};
  };
  return ConnectToStore("test://", source, options).ValueOrDie();
}

}  // namespace infino
