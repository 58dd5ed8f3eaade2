#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "infino/connection.h"
#include "infino/index_spec.h"
#include "infino/options.h"
#include "infino/table.h"
#include "py_convert.h"
#include "py_error.h"
#include "py_exit.h"
#include "py_types.h"

namespace infino::python {

namespace nb = nanobind;

namespace {

PyConnection ConnectTo(const std::string& uri, const ConnectOptions& options) {
  return PyConnection(Unlocked([&] { return Connect(uri, options); }));
}

PyTable CreateTable(const PyConnection& self, const std::string& name, const nb::object& schema,
                    const IndexSpec& spec) {
  const auto imported = SchemaFromCapsule(schema);
  return PyTable(Unlocked([&] { return self.connection->CreateTable(name, imported, spec); }));
}

PyTable OpenTable(const PyConnection& self, const std::string& name) {
  return PyTable(Unlocked([&] { return self.connection->OpenTable(name); }));
}

void DropTable(const PyConnection& self, const std::string& name, bool purge) {
  arrow::Status status;
  {
    const LibraryCall call;
    status = self.connection->DropTable(name, purge);
  }
  RaiseUnlessOk(status);
}

std::string SchemaDocument(const PyConnection& self, const std::string& name) {
  return Unlocked([&] { return self.connection->GetSchemaDocument(name); });
}

std::string EvolveSchema(const PyConnection& self, const std::string& name,
                         const std::string& patch, std::optional<int64_t> expected_schema_id) {
  return Unlocked([&] { return self.connection->EvolveSchema(name, patch, expected_schema_id); });
}

/// `parameters` is an "arrow_array_stream" capsule of one row, or None.
nb::object QuerySql(const PyConnection& self, std::string sql, const nb::object& parameters) {
  SqlRequest request{.sql = std::move(sql), .stop = SignalCheck()};
  if (!parameters.is_none()) {
    const auto rows = StreamFromCapsule(parameters);
    RaiseUnlessOk(rows->ReadNext(&request.parameters));
  }
  return CapsuleOf(Unlocked([&] { return self.connection->QuerySql(request); }));
}

std::vector<std::string> ListTables(const PyConnection& self) {
  return Unlocked([&] { return self.connection->ListTables(); });
}

}  // namespace

void BindConnection(nb::module_& module) {
  nb::enum_<Compression>(module, "Compression")
      .value("zstd", Compression::kZstd)
      .value("lz4", Compression::kLz4)
      .value("none", Compression::kNone);
  nb::enum_<ColdFetchMode>(module, "ColdFetchMode")
      .value("hybrid_with_prefetch", ColdFetchMode::kHybridWithPrefetch)
      .value("range_only", ColdFetchMode::kRangeOnly)
      .value("lazy_foreground_with_background_fill",
             ColdFetchMode::kLazyForegroundWithBackgroundFill);

  nb::class_<ConnectOptions>(module, "ConnectOptions")
      .def(nb::init<>())
      .def_rw("storage_options", &ConnectOptions::storage_options)
      .def_rw("cache_dir", &ConnectOptions::cache_dir)
      .def_rw("cache_budget_bytes", &ConnectOptions::cache_budget_bytes)
      .def_rw("memory_budget_bytes", &ConnectOptions::memory_budget_bytes)
      .def_rw("build_memory_bytes", &ConnectOptions::build_memory_bytes)
      .def_rw("scratch_dir", &ConnectOptions::scratch_dir)
      .def_rw("memory_cache_bytes", &ConnectOptions::memory_cache_bytes)
      .def_rw("cold_fetch_mode", &ConnectOptions::cold_fetch_mode)
      .def_rw("validate", &ConnectOptions::validate)
      .def_rw("freshness_ms", &ConnectOptions::freshness_ms)
      .def_rw("thread_count", &ConnectOptions::thread_count)
      .def_rw("commit_timeout_ms", &ConnectOptions::commit_timeout_ms)
      .def_rw("compression", &ConnectOptions::compression)
      .def_rw("strict_schema", &ConnectOptions::strict_schema);

  nb::class_<TextIndexOptions>(module, "TextIndexOptions")
      .def(nb::init<>())
      .def_rw("analyzer", &TextIndexOptions::analyzer)
      .def_rw("stored", &TextIndexOptions::stored)
      .def_rw("k1", &TextIndexOptions::k1)
      .def_rw("b", &TextIndexOptions::b)
      .def_rw("stopwords", &TextIndexOptions::stopwords)
      .def_rw("stemmer", &TextIndexOptions::stemmer)
      .def_rw("positions", &TextIndexOptions::positions);

  nb::class_<VectorIndexOptions>(module, "VectorIndexOptions")
      .def(nb::init<>())
      .def_rw("metric", &VectorIndexOptions::metric)
      .def_rw("rerank", &VectorIndexOptions::rerank)
      .def_rw("stored", &VectorIndexOptions::stored);

  nb::class_<IndexSpec>(module, "IndexSpec")
      .def(nb::init<>())
      .def("add_text",
           [](IndexSpec& self, std::string column, TextIndexOptions options) {
             self.Fts(std::move(column), std::move(options));
           })
      .def("add_vector",
           [](IndexSpec& self, std::string column, uint32_t dimension, VectorIndexOptions options) {
             self.Vector(std::move(column), dimension, std::move(options));
           });

  nb::class_<PyConnection>(module, "Connection")
      .def("create_table", &CreateTable, nb::arg("name"), nb::arg("schema"), nb::arg("spec"))
      .def("open_table", &OpenTable, nb::arg("name"))
      .def("drop_table", &DropTable, nb::arg("name"), nb::arg("purge"))
      .def("list_tables", &ListTables)
      .def("schema_document", &SchemaDocument, nb::arg("name"))
      .def("evolve_schema", &EvolveSchema, nb::arg("name"), nb::arg("patch"),
           nb::arg("expected_schema_id").none())
      .def("query_sql", &QuerySql, nb::arg("sql"), nb::arg("parameters").none())
      .def_prop_ro("uri", [](const PyConnection& self) { return self.connection->uri(); });

  module.def("connect", &ConnectTo, nb::arg("uri"), nb::arg("options"));
}

}  // namespace infino::python
