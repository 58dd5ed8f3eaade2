#pragma once

#include <vector>

#include <nanobind/nanobind.h>

namespace infino::python {

/// What a caller gave as the query of a vector search.
struct QueryVectors {
  std::vector<std::vector<float>> vectors;
  bool is_batch = false;  ///< Whether it was a sequence of vectors, however many.
};

/// The numbers of `query`: a list, a buffer of floats or integers in any layout (numpy, array,
/// memoryview), or what can be made one of the two. Doubles are rounded; those beyond the range of
/// floats become infinite. Raises TypeError for what holds no numbers, ValueError for arrays of
/// more than two dimensions. REQUIRES: the interpreter lock is held.
QueryVectors VectorsOf(nanobind::object query);

}  // namespace infino::python
