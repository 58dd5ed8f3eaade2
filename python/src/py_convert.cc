#include "py_convert.h"

#include <chrono>
#include <memory>
#include <utility>

#include <arrow/c/abi.h>
#include <arrow/c/bridge.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <nanobind/nanobind.h>

#include "infino/options.h"
#include "py_error.h"
#include "py_exit.h"
#include "py_hits.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

constexpr const char* kStreamName = "arrow_array_stream";
constexpr const char* kSchemaName = "arrow_schema";

template <typename C>
C* CapsulePointer(const nb::object& capsule, const char* name) {
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (pointer == nullptr) throw nb::python_error();
  return static_cast<C*>(pointer);
}

/// Owns a C structure until a consumer has moved its content out.
template <typename C>
nb::object NewCapsule(std::unique_ptr<C> content, const char* name) {
  const PyCapsule_Destructor destroy = [](PyObject* capsule) {
    const std::unique_ptr<C> owned(
        static_cast<C*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))));
    if (owned != nullptr && owned->release != nullptr) owned->release(owned.get());
  };
  PyObject* capsule = PyCapsule_New(content.get(), name, destroy);
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(content.release());
  return nb::steal(capsule);
}

}  // namespace

std::shared_ptr<arrow::RecordBatchReader> StreamFromCapsule(const nb::object& capsule) {
  return ValueOrRaise(
      arrow::ImportRecordBatchReader(CapsulePointer<ArrowArrayStream>(capsule, kStreamName)));
}

std::shared_ptr<arrow::Schema> SchemaFromCapsule(const nb::object& capsule) {
  return ValueOrRaise(arrow::ImportSchema(CapsulePointer<ArrowSchema>(capsule, kSchemaName)));
}

nb::object CapsuleOf(const std::shared_ptr<arrow::Table>& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  auto reader = std::make_shared<arrow::TableBatchReader>(table);
  RaiseUnlessOk(arrow::ExportRecordBatchReader(std::move(reader), stream.get()));
  return NewCapsule(std::move(stream), kStreamName);
}

nb::object HitsOf(const std::shared_ptr<arrow::Table>& table) {
  if (table->num_rows() == 0) return nb::none();
  const auto batch = arrow::RecordBatch::Make(
      table->schema(), table->num_rows(), {table->column(0)->chunk(0), table->column(1)->chunk(0)});
  PyHits hits;
  RaiseUnlessOk(arrow::ExportRecordBatch(*batch, hits.array.get()));
  return nb::cast(std::move(hits));
}

nb::object CapsuleOf(const arrow::Schema& schema) {
  auto content = std::make_unique<ArrowSchema>();
  RaiseUnlessOk(arrow::ExportSchema(schema, content.get()));
  return NewCapsule(std::move(content), kSchemaName);
}

StopCondition SignalCheck() {
  using Clock = std::chrono::steady_clock;
  StopCondition stop;
  stop.poll = [last = Clock::now()]() mutable {
    constexpr auto kInterval = std::chrono::milliseconds(50);
    if (IsLeftBehind()) return true;
    const Clock::time_point now = Clock::now();
    if (now - last < kInterval) return false;
    last = now;
    const nb::gil_scoped_acquire locked;
    return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  };
  return stop;
}

}  // namespace infino::python
