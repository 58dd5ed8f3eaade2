#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <arrow/array/array_decimal.h>
#include <arrow/table.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "infino/error.h"
#include "infino/search.h"
#include "infino/table.h"
#include "py_convert.h"
#include "py_error.h"
#include "py_hits.h"
#include "py_types.h"
#include "py_vectors.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

// What belongs together in a request comes as one tuple.
using Projection = std::optional<std::vector<std::string>>;
using Text = std::tuple<std::string, std::string, bool>;  ///< Column, query, whether all match.
using Vector = std::pair<std::string, nb::object>;        ///< Column, what the caller gave.
using Effort = std::pair<std::optional<uint32_t>, std::optional<double>>;  ///< nprobe, recall.
using Fusion = std::tuple<std::optional<uint64_t>, double, double>;        ///< Depth, two weights.

MatchMode ModeOf(bool all) {
  return all ? MatchMode::kAnd : MatchMode::kOr;
}

std::optional<TextFilter> FilterOf(std::optional<Text> filter) {
  if (!filter.has_value()) return std::nullopt;
  auto& [column, query, all] = *filter;
  return TextFilter{.column = std::move(column), .query = std::move(query), .mode = ModeOf(all)};
}

VectorEffort EffortOf(const Effort& effort) {
  return {.target_recall = effort.second, .nprobe = effort.first};
}

/// A PyHits or None without a projection, else a capsule.
nb::object ResultOf(const std::shared_ptr<arrow::Table>& table, bool are_hits) {
  return are_hits ? HitsOf(table) : CapsuleOf(table);
}

nb::object VectorSearch(const PyTable& self, Vector vector, uint64_t k, std::optional<Text> filter,
                        const Effort& effort, Projection projection, std::string where) {
  QueryVectors query = VectorsOf(std::move(vector.second));
  const bool are_hits = !query.is_batch && !projection.has_value();
  const VectorSearchRequest request{.column = std::move(vector.first),
                                    .queries = std::move(query.vectors),
                                    .k = k,
                                    .filter = FilterOf(std::move(filter)),
                                    .effort = EffortOf(effort),
                                    .projection = std::move(projection),
                                    .number_queries = query.is_batch,
                                    .where = std::move(where),
                                    .stop = SignalCheck()};
  return ResultOf(Unlocked([&] { return self.table->VectorSearch(request); }), are_hits);
}

/// The bytes of the rows' ids, big-endian, one after the other.
nb::bytearray VectorSearchIds(const PyTable& self, Vector vector, uint64_t k, std::string where) {
  QueryVectors query = VectorsOf(std::move(vector.second));
  if (query.is_batch) {
    RaiseUnlessOk(MakeError(ErrorKind::kInvalidArgument,
                            "vector_search_ids takes one query vector, not a batch of " +
                                std::to_string(query.vectors.size())));
  }
  const VectorSearchRequest request{.column = std::move(vector.first),
                                    .queries = std::move(query.vectors),
                                    .k = k,
                                    .projection = std::vector<std::string>{"_id"},
                                    .where = std::move(where),
                                    .stop = SignalCheck()};
  const std::shared_ptr<arrow::Table> table =
      Unlocked([&] { return self.table->VectorSearch(request); });
  std::string bytes;
  for (const auto& chunk : table->column(0)->chunks()) {
    const auto& ids = static_cast<const arrow::Decimal128Array&>(*chunk);
    for (int64_t row = 0; row < ids.length(); ++row) {
      const std::string_view id = ids.GetView(row);
      bytes.append(id.rbegin(), id.rend());
    }
  }
  return nb::bytearray(bytes.data(), bytes.size());
}

HybridSearchRequest RequestOf(Text text, Vector vector, uint64_t k, const Fusion& fusion) {
  QueryVectors query = VectorsOf(std::move(vector.second));
  if (query.is_batch) {
    RaiseUnlessOk(MakeError(ErrorKind::kInvalidArgument,
                            "hybrid_search takes one query vector, not a batch of " +
                                std::to_string(query.vectors.size())));
  }
  auto& [column, words, all] = text;
  return {.text_column = std::move(column),
          .text = std::move(words),
          .mode = ModeOf(all),
          .vector_column = std::move(vector.first),
          .vector = std::move(query.vectors[0]),
          .k = k,
          .depth = std::get<0>(fusion),
          .text_weight = std::get<1>(fusion),
          .vector_weight = std::get<2>(fusion),
          .filter = std::nullopt,
          .effort = {},
          .projection = std::nullopt,
          .where = {},
          .stop = SignalCheck()};
}

}  // namespace

void BindVectorSearch(nb::class_<PyTable>& table) {
  table
      .def("vector_search", &VectorSearch, nb::arg("vector"), nb::arg("k"),
           nb::arg("filter").none(), nb::arg("effort"), nb::arg("projection").none(),
           nb::arg("where"))
      .def("vector_search_ids", &VectorSearchIds, nb::arg("vector"), nb::arg("k"), nb::arg("where"))
      .def(
          "hybrid_search",
          [](const PyTable& self, Text text, Vector vector, uint64_t k, const Fusion& fusion,
             std::optional<Text> filter, const Effort& effort, Projection projection,
             std::string where) {
            HybridSearchRequest request = RequestOf(std::move(text), std::move(vector), k, fusion);
            request.filter = FilterOf(std::move(filter));
            request.effort = EffortOf(effort);
            request.projection = std::move(projection);
            request.where = std::move(where);
            const bool are_hits = !request.projection.has_value();
            return ResultOf(Unlocked([&] { return self.table->HybridSearch(request); }), are_hits);
          },
          nb::arg("text"), nb::arg("vector"), nb::arg("k"), nb::arg("fusion"),
          nb::arg("filter").none(), nb::arg("effort"), nb::arg("projection").none(),
          nb::arg("where"));
}

}  // namespace infino::python
