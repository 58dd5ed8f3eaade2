#pragma once

#include <memory>
#include <optional>
#include <string>

#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <nanobind/nanobind.h>

#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/search.h"

namespace infino::python {

/// The stream behind a PyCapsule named "arrow_array_stream", moved out of it.
std::shared_ptr<arrow::RecordBatchReader> StreamFromCapsule(const nanobind::object& capsule);

/// The schema behind a PyCapsule named "arrow_schema", moved out of it.
std::shared_ptr<arrow::Schema> SchemaFromCapsule(const nanobind::object& capsule);

/// A PyCapsule named "arrow_array_stream" over the chunks of `table`.
nanobind::object CapsuleOf(const std::shared_ptr<arrow::Table>& table);

/// A PyCapsule named "arrow_schema".
nanobind::object CapsuleOf(const arrow::Schema& schema);

/// A condition whose poll runs Python's signal handlers, at most every 50 ms: Ctrl-C ends the call
/// and leaves KeyboardInterrupt set. To be made on the calling thread.
StopCondition SignalCheck();

}  // namespace infino::python
