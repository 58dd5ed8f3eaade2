#include "infino/sql/bound_copy.h"

#include <cstdint>

#include "duckdb/common/serializer/deserializer.hpp"
#include "duckdb/common/serializer/serializer.hpp"
#include "duckdb/function/table_function.hpp"

namespace infino::sql {
namespace {

constexpr duckdb::field_id_t kField = 100;
constexpr const char* kName = "original";

void Write(duckdb::Serializer& serializer, const duckdb::optional_ptr<duckdb::FunctionData> bound,
           const duckdb::TableFunction& /*function*/) {
  serializer.WriteProperty(kField, kName, reinterpret_cast<uintptr_t>(bound.get()));
}

duckdb::unique_ptr<duckdb::FunctionData> Read(duckdb::Deserializer& deserializer,
                                              duckdb::TableFunction& /*function*/) {
  const auto original = deserializer.ReadProperty<uintptr_t>(kField, kName);
  return reinterpret_cast<const duckdb::FunctionData*>(original)->Copy();
}

}  // namespace

void LetPlansBeCopied(duckdb::TableFunction& function) {
  function.serialize = Write;
  function.deserialize = Read;
  function.verify_serialization = false;
}

}  // namespace infino::sql
