#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "infino/search.h"
#include "infino/table.h"
#include "py_convert.h"
#include "py_error.h"
#include "py_types.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

/// (matched, tombstoned, not found, version).
nb::tuple TupleOf(const ChangeResult& result) {
  return nb::make_tuple(result.matched, result.tombstoned, result.not_found, result.version);
}

nb::tuple Delete(const PyTable& self, const std::string& predicate) {
  const ChangeOptions options{.stop = SignalCheck()};
  return TupleOf(Unlocked([&] { return self.table->Delete(predicate, options); }));
}

nb::tuple Update(const PyTable& self, const std::string& predicate, const nb::object& stream) {
  auto reader = StreamFromCapsule(stream);
  const ChangeOptions options{.stop = SignalCheck()};
  return TupleOf(
      Unlocked([&] { return self.table->Update(predicate, std::move(reader), options); }));
}

nb::tuple Upsert(const PyTable& self, const nb::object& stream, const std::string& on) {
  auto reader = StreamFromCapsule(stream);
  const ChangeOptions options{.stop = SignalCheck()};
  return TupleOf(Unlocked([&] { return self.table->Upsert(std::move(reader), on, options); }));
}

/// `ids` are decimal128 numbers as they lie in memory.
nb::object Get(const PyTable& self, const nb::bytes& ids,
               std::optional<std::vector<std::string>> projection) {
  GetRequest request{.projection = std::move(projection), .stop = SignalCheck()};
  request.ids.resize(ids.size() / sizeof(arrow::Decimal128));
  for (size_t i = 0; i < request.ids.size(); ++i) {
    uint64_t words[2];
    std::memcpy(words, ids.c_str() + i * sizeof(words), sizeof(words));
    request.ids[i] = arrow::Decimal128(static_cast<int64_t>(words[1]), words[0]);
  }
  return CapsuleOf(Unlocked([&] { return self.table->Get(request); }));
}

}  // namespace

void BindChanges(nb::class_<PyTable>& table) {
  table.def("delete", &Delete, nb::arg("predicate"))
      .def("update", &Update, nb::arg("predicate"), nb::arg("stream"))
      .def("upsert", &Upsert, nb::arg("stream"), nb::arg("on"))
      .def("get", &Get, nb::arg("ids"), nb::arg("projection").none());
}

}  // namespace infino::python
