#include "py_error.h"

#include <string>

#include <nanobind/nanobind.h>

#include "infino/error.h"

namespace infino::python {

namespace nb = nanobind;

void RaiseUnlessOk(const arrow::Status& status) {
  if (status.ok()) return;
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  const ErrorKind kind = KindOf(status).value_or(ErrorKind::kInternal);
  const std::string name(NameOf(kind));
  const nb::object classes = nb::module_::import_("infino._errors").attr("CLASS_OF_KIND");
  const nb::object error_class = classes[name.c_str()];
  const std::string message = status.message();
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  PyErr_SetObject(error_class.ptr(), text.ptr());
  throw nb::python_error();
}

}  // namespace infino::python
