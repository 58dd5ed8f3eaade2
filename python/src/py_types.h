#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "infino/connection.h"
#include "infino/table.h"

namespace infino::python {

/// What Python holds: a shared handle. Plain structs, so that nanobind owns them by value.
struct PyConnection {
  std::shared_ptr<Connection> connection;
};

struct PyTable {
  std::shared_ptr<Table> table;
};

void BindConnection(nanobind::module_& module);
void BindTable(nanobind::module_& module);

}  // namespace infino::python
