#pragma once

#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

#include "infino/connection.h"
#include "infino/table.h"
#include "py_exit.h"

namespace infino::python {

/// What Python holds: a shared handle, let go without the interpreter lock.
struct PyConnection {
  explicit PyConnection(std::shared_ptr<Connection> made) : connection(std::move(made)) {}

  ~PyConnection() { LetGo(std::move(connection)); }

  PyConnection(PyConnection&&) = default;
  PyConnection& operator=(PyConnection&&) = delete;
  PyConnection(const PyConnection&) = delete;
  PyConnection& operator=(const PyConnection&) = delete;

  std::shared_ptr<Connection> connection;
};

struct PyTable {
  explicit PyTable(std::shared_ptr<Table> made) : table(std::move(made)) {}

  ~PyTable() { LetGo(std::move(table)); }

  PyTable(PyTable&&) = default;
  PyTable& operator=(PyTable&&) = delete;
  PyTable(const PyTable&) = delete;
  PyTable& operator=(const PyTable&) = delete;

  std::shared_ptr<Table> table;
};

void BindConnection(nanobind::module_& module);
void BindTable(nanobind::module_& module);
void BindChanges(nanobind::class_<PyTable>& table);
void BindVectorSearch(nanobind::class_<PyTable>& table);

}  // namespace infino::python
