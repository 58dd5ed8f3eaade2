#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/table.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "infino/search.h"
#include "infino/table.h"
#include "py_convert.h"
#include "py_error.h"
#include "py_hits.h"
#include "py_types.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

using Projection = std::optional<std::vector<std::string>>;

MatchMode ModeOf(bool all) {
  return all ? MatchMode::kAnd : MatchMode::kOr;
}

/// Rows go in through an "arrow_array_stream" capsule; `progress` is called with (rows read,
/// superfiles written, bytes written) or is None.
nb::tuple Append(const PyTable& self, const nb::object& stream, const nb::object& progress) {
  auto reader = StreamFromCapsule(stream);
  AppendOptions options{.stop = SignalCheck()};
  if (!progress.is_none()) {
    options.progress = [&progress](const AppendProgress& now) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_Occurred() != nullptr) return;
      PyObject* result = PyObject_CallFunction(
          progress.ptr(), "KKK",
          static_cast<unsigned long long>(
              now.rows_read),  // NOLINT(google-runtime-int): the C API's
          static_cast<unsigned long long>(
              now.superfiles_written),  // NOLINT(google-runtime-int): the C API's
          static_cast<unsigned long long>(
              now.bytes_written));  // NOLINT(google-runtime-int): the C API's
      Py_XDECREF(result);
    };
  }
  const AppendResult done =
      Unlocked([&] { return self.table->Append(std::move(reader), options); });
  return nb::make_tuple(done.rows, done.superfiles, done.bytes, done.version);
}

// One argument a field of the request: the Python side passes them by name.
nb::object Search(const PyTable& self, TextSearchRequest request) {
  request.stop = SignalCheck();
  return CapsuleOf(Unlocked([&] { return self.table->Search(request); }));
}

/// The quick way to `_id` and `score` alone.
nb::object SearchHits(const PyTable& self, TextSearchRequest request) {
  request.stop = SignalCheck();
  return HitsOf(Unlocked([&] { return self.table->Search(request); }));
}

nb::object ExactMatch(const PyTable& self, std::string column, std::string value,
                      Projection projection, std::string where) {
  const ExactMatchRequest request{.column = std::move(column),
                                  .value = std::move(value),
                                  .projection = std::move(projection),
                                  .where = std::move(where),
                                  .stop = SignalCheck()};
  return CapsuleOf(Unlocked([&] { return self.table->ExactMatch(request); }));
}

nb::object TokenMatch(const PyTable& self, std::string column, std::string query, bool all,
                      Projection projection, std::string where) {
  const MatchRequest request{.column = std::move(column),
                             .query = std::move(query),
                             .mode = ModeOf(all),
                             .projection = std::move(projection),
                             .where = std::move(where),
                             .stop = SignalCheck()};
  return CapsuleOf(Unlocked([&] { return self.table->TokenMatch(request); }));
}

uint64_t Count(const PyTable& self, std::string column, std::string query, bool all,
               std::string where) {
  const CountRequest request{.column = std::move(column),
                             .query = std::move(query),
                             .mode = ModeOf(all),
                             .where = std::move(where),
                             .stop = SignalCheck()};
  return Unlocked([&] { return self.table->Count(request); });
}

TextSearchRequest RequestOf(std::string column, std::string query, uint64_t k, bool all,
                            Projection projection,
                            std::optional<std::pair<double, double>> parameters,
                            std::string where) {
  TextSearchRequest request{.column = std::move(column),
                            .query = std::move(query),
                            .is_prefix = false,
                            .k = k,
                            .mode = ModeOf(all),
                            .projection = std::move(projection),
                            .where = std::move(where)};
  if (parameters.has_value()) {
    request.k1 = parameters->first;
    request.b = parameters->second;
  }
  return request;
}

}  // namespace

void BindTable(nb::module_& module) {
  nb::class_<TableStats>(module, "TableStats")
      .def_ro("version", &TableStats::version)
      .def_ro("rows", &TableStats::rows)
      .def_ro("superfiles", &TableStats::superfiles)
      .def_ro("bytes", &TableStats::bytes);

  nb::class_<PyHits>(module, "Hits").def_prop_ro("address", [](const PyHits& self) {
    return static_cast<uint64_t>(std::bit_cast<uintptr_t>(self.array.get()));
  });

  nb::class_<PyTable> table(module, "Table");
  table.def_prop_ro("name", [](const PyTable& self) { return self.table->name(); })
      .def("schema",
           [](const PyTable& self) {
             return CapsuleOf(*Unlocked([&] { return self.table->GetSchema(); }));
           })
      .def("stats",
           [](const PyTable& self) { return Unlocked([&] { return self.table->Stats(); }); })
      .def("append", &Append, nb::arg("stream"), nb::arg("progress").none())
      .def(
          "search",
          [](const PyTable& self, std::string column, std::string query, uint64_t k, bool all,
             bool is_prefix, Projection projection,
             std::optional<std::pair<double, double>> parameters, std::string where) {
            TextSearchRequest request =
                RequestOf(std::move(column), std::move(query), k, all, std::move(projection),
                          parameters, std::move(where));
            request.is_prefix = is_prefix;
            return Search(self, std::move(request));
          },
          nb::arg("column"), nb::arg("query"), nb::arg("k"), nb::arg("all"), nb::arg("is_prefix"),
          nb::arg("projection").none(), nb::arg("parameters").none(), nb::arg("where"))
      .def(
          "search_hits",
          [](const PyTable& self, std::string column, std::string query, uint64_t k, bool all,
             bool is_prefix, std::optional<std::pair<double, double>> parameters,
             std::string where) {
            TextSearchRequest request = RequestOf(std::move(column), std::move(query), k, all,
                                                  std::nullopt, parameters, std::move(where));
            request.is_prefix = is_prefix;
            return SearchHits(self, std::move(request));
          },
          nb::arg("column"), nb::arg("query"), nb::arg("k"), nb::arg("all"), nb::arg("is_prefix"),
          nb::arg("parameters").none(), nb::arg("where"))
      .def("exact_match", &ExactMatch, nb::arg("column"), nb::arg("value"),
           nb::arg("projection").none(), nb::arg("where"))
      .def("token_match", &TokenMatch, nb::arg("column"), nb::arg("query"), nb::arg("all"),
           nb::arg("projection").none(), nb::arg("where"))
      .def("count", &Count, nb::arg("column"), nb::arg("query"), nb::arg("all"), nb::arg("where"));
  BindChanges(table);
  BindVectorSearch(table);
}

}  // namespace infino::python
