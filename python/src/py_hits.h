#pragma once

#include <memory>

#include <arrow/c/abi.h>
#include <arrow/table.h>
#include <nanobind/nanobind.h>

namespace infino::python {

/// A batch of hits for a consumer that knows their schema: an ArrowArray, to be moved from.
struct PyHits {
  std::unique_ptr<ArrowArray, void (*)(ArrowArray*)> array{new ArrowArray(), [](ArrowArray* owned) {
                                                             if (owned->release != nullptr)
                                                               owned->release(owned);
                                                             delete owned;
                                                           }};
};

/// `_id` and `score` of the rows found, as a PyHits, or None if there are none: a call that finds
/// nothing should cost next to nothing. REQUIRES: `table` has those two columns, in one piece.
nanobind::object HitsOf(const std::shared_ptr<arrow::Table>& table);

}  // namespace infino::python
