#include "infino/sql/scan_filter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "duckdb/planner/expression.hpp"
#include "duckdb/planner/expression/bound_reference_expression.hpp"
#include "duckdb/planner/filter/conjunction_filter.hpp"
#include "duckdb/planner/filter/dynamic_filter.hpp"
#include "duckdb/planner/filter/expression_filter.hpp"
#include "duckdb/planner/filter/optional_filter.hpp"
#include "duckdb/planner/filter/selectivity_optional_filter.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "duckdb/planner/table_filter_state.hpp"
#include "duckdb/storage/table/column_segment.hpp"

namespace infino::sql {
namespace {

using duckdb::idx_t;
using duckdb::SelectionVector;
using duckdb::TableFilter;
using duckdb::TableFilterType;
using duckdb::Vector;

bool IsFixed(const TableFilter& filter) {
  const auto all_fixed = [](const auto& children) {
    return std::ranges::all_of(children, [](const auto& child) { return IsFixed(*child); });
  };
  switch (filter.filter_type) {
    case TableFilterType::CONSTANT_COMPARISON:
    case TableFilterType::IS_NULL:
    case TableFilterType::IS_NOT_NULL:
    case TableFilterType::IN_FILTER:
      return true;
    case TableFilterType::CONJUNCTION_AND:
      return all_fixed(filter.Cast<duckdb::ConjunctionAndFilter>().child_filters);
    case TableFilterType::CONJUNCTION_OR:
      return all_fixed(filter.Cast<duckdb::ConjunctionOrFilter>().child_filters);
    case TableFilterType::EXPRESSION_FILTER: {
      const auto& expression = *filter.Cast<duckdb::ExpressionFilter>().expr;
      return !expression.CanThrow() && !expression.IsVolatile();
    }
    default:
      return false;
  }
}

/// A filter as it is now, with constants in the place of bounds that get narrower; null if it lets
/// all pass yet.
duckdb::unique_ptr<TableFilter> AsOfNow(const TableFilter& filter) {
  if (filter.filter_type == TableFilterType::DYNAMIC_FILTER) {
    const auto& bound = filter.Cast<duckdb::DynamicFilter>().filter_data;
    if (bound == nullptr || !bound->initialized) return nullptr;
    const duckdb::lock_guard<duckdb::mutex> lock(bound->lock);
    return bound->filter->Copy();
  }
  if (filter.filter_type != TableFilterType::CONJUNCTION_OR) return filter.Copy();
  auto any = duckdb::make_uniq<duckdb::ConjunctionOrFilter>();
  for (const auto& child : filter.Cast<duckdb::ConjunctionOrFilter>().child_filters) {
    auto now = AsOfNow(*child);
    if (now == nullptr) return nullptr;
    any->child_filters.push_back(std::move(now));
  }
  return any;
}

/// Whether a bound that gets narrower while the statement runs is all that the filter is about.
bool IsDynamic(const TableFilter& filter) {
  switch (filter.filter_type) {
    case TableFilterType::DYNAMIC_FILTER:
      return true;
    case TableFilterType::CONJUNCTION_OR:
      return std::ranges::any_of(filter.Cast<duckdb::ConjunctionOrFilter>().child_filters,
                                 [](const auto& child) { return IsDynamic(*child); });
    default:
      return false;
  }
}

void Apply(const TableFilter& filter, duckdb::TableFilterState& state, Vector& values, idx_t length,
           SelectionVector& selected, idx_t& count) {
  duckdb::UnifiedVectorFormat format;
  values.ToUnifiedFormat(length, format);
  duckdb::ColumnSegment::FilterSelection(selected, values, format, filter, state, length, count);
}

/// Finds out which of the entries of a dictionary that still pass do so.
void Judge(const TableFilter& filter, duckdb::TableFilterState& state, Vector& entries,
           std::vector<uint8_t>& passing) {
  for (idx_t first = 0; first < passing.size(); first += STANDARD_VECTOR_SIZE) {
    const idx_t length = std::min<idx_t>(passing.size() - first, STANDARD_VECTOR_SIZE);
    Vector slice(entries, first, first + length);
    SelectionVector selected(length);
    idx_t count = 0;
    for (idx_t i = 0; i < length; ++i) {
      selected.set_index(count, i);
      count += passing[first + i];
      passing[first + i] = 0;
    }
    if (count > 0) Apply(filter, state, slice, length, selected, count);
    for (idx_t i = 0; i < count; ++i) passing[first + selected.get_index(i)] = 1;
  }
}

/// Narrows `selected` to the values whose entries pass.
void SelectByEntry(const std::vector<uint8_t>& passing, Vector& values, SelectionVector& selected,
                   idx_t& count) {
  const SelectionVector& indices = duckdb::DictionaryVector::SelVector(values);
  SelectionVector left(count);
  idx_t left_count = 0;
  for (idx_t i = 0; i < count; ++i) {
    const idx_t at = selected.get_index(i);
    left.set_index(left_count, at);
    left_count += passing[indices[at]];
  }
  selected.Initialize(left);
  count = left_count;
}

}  // namespace

ScanFilter::ScanFilter(duckdb::ClientContext& context, const duckdb::LogicalType& type,
                       const TableFilter& filter)
    : context_(&context) {
  AddParts(type, filter);
  has_fixed_ = std::ranges::any_of(parts_, &Part::is_fixed);
}

void ScanFilter::AddParts(const duckdb::LogicalType& type, const TableFilter& filter) {
  if (filter.filter_type == TableFilterType::CONJUNCTION_AND) {
    for (const auto& child : filter.Cast<duckdb::ConjunctionAndFilter>().child_filters) {
      AddParts(type, *child);
    }
    return;
  }
  if (filter.filter_type == TableFilterType::OPTIONAL_FILTER) {
    const auto& child = filter.Cast<duckdb::OptionalFilter>().child_filter;
    if (child != nullptr && IsDynamic(*child)) {
      AddParts(type, *child);
      return;
    }
    const auto* const weighed = dynamic_cast<const duckdb::SelectivityOptionalFilter*>(&filter);
    if (weighed == nullptr) return;
  }
  Part part{
      .filter = &filter, .own_filter = nullptr, .state = nullptr, .is_fixed = IsFixed(filter)};
  if (filter.filter_type == TableFilterType::IN_FILTER) {
    // Which FilterSelection does not know.
    const duckdb::BoundReferenceExpression value(type, 0);
    part.own_filter = duckdb::make_uniq<duckdb::ExpressionFilter>(filter.ToExpression(value));
    part.filter = part.own_filter.get();
  }
  if (!IsDynamic(filter))
    part.state = duckdb::TableFilterState::Initialize(*context_, *part.filter);
  parts_.push_back(std::move(part));
}

void ScanFilter::Select(Vector& values, idx_t length, SelectionVector& selected, idx_t& count) {
  const bool by_entry = values.GetVectorType() == duckdb::VectorType::DICTIONARY_VECTOR &&
                        duckdb::DictionaryVector::DictionarySize(values).IsValid();
  const idx_t entries = by_entry ? duckdb::DictionaryVector::DictionarySize(values).GetIndex() : 0;
  if (by_entry && has_fixed_) {
    Vector& dictionary = duckdb::DictionaryVector::Child(values);
    if (values.GetAuxiliary() != dictionary_) {
      dictionary_ = values.GetAuxiliary();
      passing_.assign(entries, 1);
      for (const Part& part : parts_) {
        if (part.is_fixed) Judge(*part.filter, *part.state, dictionary, passing_);
      }
    }
    SelectByEntry(passing_, values, selected, count);
  }
  for (const Part& part : parts_) {
    if (count == 0) return;
    if (part.is_fixed && by_entry) continue;
    if (part.state != nullptr) {
      Apply(*part.filter, *part.state, values, length, selected, count);
      continue;
    }
    const auto now = AsOfNow(*part.filter);
    if (now == nullptr) continue;
    const auto state = duckdb::TableFilterState::Initialize(*context_, *now);
    if (by_entry && entries < count) {
      std::vector<uint8_t> passing(entries, 1);
      Judge(*now, *state, duckdb::DictionaryVector::Child(values), passing);
      SelectByEntry(passing, values, selected, count);
    } else {
      Apply(*now, *state, values, length, selected, count);
    }
  }
}

bool MayPass(const TableFilter& filter, duckdb::BaseStatistics& statistics) {
  return filter.CheckStatistics(statistics) != duckdb::FilterPropagateResult::FILTER_ALWAYS_FALSE;
}

}  // namespace infino::sql
