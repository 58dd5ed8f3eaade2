#pragma once

#include <memory>
#include <string>

#include "infino/catalog/session.h"
#include "infino/table.h"

namespace infino {

/// A handle of the table `name` in `folder`. Reads nothing.
[[nodiscard]] std::shared_ptr<Table> MakeTableHandle(std::shared_ptr<Session> session,
                                                     std::string name, std::string folder);

}  // namespace infino
