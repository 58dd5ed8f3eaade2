#pragma once

#include <cstdint>
#include <vector>

#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "duckdb/planner/table_filter_state.hpp"
#include "duckdb/storage/statistics/base_statistics.hpp"

namespace infino::sql {

/// Applies a filter that DuckDB has pushed into a scan to the vectors of its column. Of what need
/// not be applied for the result to be right, it applies what leaves out rows at little cost. Used
/// by one thread. Throws what DuckDB throws.
class ScanFilter {
 public:
  /// `filter` outlives it; `type` is the column's.
  ScanFilter(duckdb::ClientContext& context, const duckdb::LogicalType& type,
             const duckdb::TableFilter& filter);

  /// Narrows `selected`, `count` places of a vector of `length` values, to those that pass.
  void Select(duckdb::Vector& values, duckdb::idx_t length, duckdb::SelectionVector& selected,
              duckdb::idx_t& count);

 private:
  /// One of the conditions that all have to hold.
  struct Part {
    const duckdb::TableFilter* filter = nullptr;
    duckdb::unique_ptr<duckdb::TableFilter> own_filter;  ///< What `filter` is, if made here.
    duckdb::unique_ptr<duckdb::TableFilterState> state;  ///< Null: the filter is dynamic.

    /// Whether it says the same of the same value, each time, and can be asked of any.
    bool is_fixed = false;
  };

  void AddParts(const duckdb::LogicalType& type, const duckdb::TableFilter& filter);

  duckdb::ClientContext* context_;
  std::vector<Part> parts_;
  bool has_fixed_ = false;

  // Of the dictionary seen last: which entries pass all fixed parts.
  duckdb::buffer_ptr<duckdb::VectorBuffer> dictionary_;
  std::vector<uint8_t> passing_;  // 1 or 0
};

/// Whether values with those statistics may pass; false only for certain.
[[nodiscard]] bool MayPass(const duckdb::TableFilter& filter, duckdb::BaseStatistics& statistics);

}  // namespace infino::sql
