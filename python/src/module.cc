#include <nanobind/nanobind.h>

#include "py_exit.h"
#include "py_log.h"
#include "py_types.h"

NB_MODULE(_infino, module) {
  module.doc() = "The compiled part of infino. Use the package `infino`.";
  nanobind::set_leak_warnings(false);
  infino::python::BindExit(module);
  infino::python::BindLog(module);
  infino::python::BindConnection(module);
  infino::python::BindTable(module);
}
