#include "infino/sql/unit_scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/exception.hpp"
#include "duckdb/common/types/data_chunk.hpp"
#include "duckdb/common/types/hugeint.hpp"
#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/value.hpp"
#include "duckdb/common/types/vector.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/planner/table_filter.hpp"
#include "infino/common/wait.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/flat_column.h"
#include "infino/sql/flat_scan.h"
#include "infino/sql/hugeint.h"
#include "infino/sql/scan_filter.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using duckdb::FlatVector;
using duckdb::SelectionVector;
using Kind = ScanColumn::Kind;

constexpr size_t kWindow = STANDARD_VECTOR_SIZE;

/// The first row of a window in its unit.
uint32_t FirstOf(size_t window) {
  return static_cast<uint32_t>(window * kWindow);
}

/// About what it costs to apply a filter, to begin with those that cost little.
int CostOf(const ScanColumn& column) {
  constexpr int kExpression = 2;
  constexpr int kText = 1;
  int cost = 0;
  if (column.kind == Kind::kStored) ++cost;
  if (column.filter->filter_type == duckdb::TableFilterType::EXPRESSION_FILTER) cost += kExpression;
  if (column.type.InternalType() == duckdb::PhysicalType::VARCHAR) cost += kText;
  return cost;
}

/// Writes a value of each row, which `value` has by the row's place in the window.
template <typename T, typename ValueOf>
void WriteEach(const WindowRows& rows, Placing placing, duckdb::Vector& out, const ValueOf& value) {
  T* const data = FlatVector::GetDataUnsafe<T>(out);
  for (size_t i = 0; i < rows.count; ++i) {
    const size_t at = rows.selected == nullptr ? i : rows.selected->get_index(i);
    data[placing == Placing::kDense ? i : at] = value(at);
  }
}

}  // namespace

UnitScan::UnitScan(ClientContext& context, FlatScan& scan)
    : scan_(scan), columns_(scan.columns().size()) {
  for (size_t i = 0; i < scan.columns().size(); ++i) {
    const ScanColumn& column = scan.columns()[i];
    if (column.filter == nullptr) continue;
    filters_.push_back({.column = i,
                        .filter = ScanFilter(context, column.type, *column.filter),
                        .is_given_out = std::ranges::count(scan.output(), i) > 0,
                        .kept = {}});
  }
  std::ranges::sort(filters_, std::ranges::less(), [&](const Filter& filter) {
    return std::pair(CostOf(scan.columns()[filter.column]), filter.column);
  });
}

void UnitScan::Next(ClientContext& context, duckdb::DataChunk& chunk) {
  while (true) {
    if (context.IsInterrupted()) throw duckdb::InterruptException();
    if (unit_ == nullptr || next_window_ == window_count()) {
      if (!StartUnit(context)) return;
      continue;
    }
    const size_t window = next_window_++;
    WindowRows rows = Window(window);
    SelectionVector selected;
    rows.count = unit_->candidates.Select(FirstOf(window), rows.length, selected);
    if (rows.count == 0) continue;
    if (rows.count < rows.length) rows.selected = &selected;
    ThrowIfFailed(context, GiveOut(window, rows, chunk));
    return;
  }
}

size_t UnitScan::window_count() const {
  return (unit_->row_count + kWindow - 1) / kWindow;
}

WindowRows UnitScan::Window(size_t window) const {
  const uint32_t first = FirstOf(window);
  const size_t length = std::min<size_t>(kWindow, unit_->row_count - first);
  return {.first_row = unit_->first_row + first, .length = length, .count = length};
}

/// Takes the next unit; false if there is none.
bool UnitScan::StartUnit(ClientContext& context) {
  for (Filter& filter : filters_) filter.kept.clear();
  unit_ = ValueOrThrow(context, scan_.Next(context));
  if (unit_ == nullptr) return false;
  next_window_ = 0;
  ThrowIfFailed(context, TakeBytes(context, unit_->first));
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (unit_->pages[i] != nullptr) {
      columns_[i].Start(*unit_->file->columns[i].conversion, *unit_->pages[i]);
    }
  }
  if (filters_.empty()) return true;
  ThrowIfFailed(context, FilterRows(context));
  if (unit_->candidates.Any(0, unit_->row_count)) {
    ThrowIfFailed(context, ReadOthers(context));
  } else {
    next_window_ = window_count();
  }
  return true;
}

arrow::Status UnitScan::TakeBytes(ClientContext& context, ScanReads& reads) const {
  if (!reads.resident) {
    ARROW_ASSIGN_OR_RAISE(reads.resident, Wait(reads.under_way, StopOf(context)));
  }
  return reads.reads.Take(*std::move(reads.resident), unit_->file->reader->name());
}

arrow::Status UnitScan::FilterRows(ClientContext& context) {
  for (Filter& filter : filters_) filter.kept.resize(window_count());
  for (size_t window = 0; window < window_count(); ++window) {
    if (context.IsInterrupted()) throw duckdb::InterruptException();
    ARROW_RETURN_NOT_OK(FilterWindow(window));
  }
  return arrow::Status::OK();
}

arrow::Status UnitScan::FilterWindow(size_t window) {
  WindowRows rows = Window(window);
  SelectionVector selected;
  duckdb::idx_t count = unit_->candidates.Select(FirstOf(window), rows.length, selected);
  if (count == 0) return arrow::Status::OK();
  if (!selected.IsSet()) selected.Initialize(*FlatVector::IncrementalSelectionVector());
  for (Filter& filter : filters_) {
    if (count == 0) break;
    rows.selected = count == rows.length ? nullptr : &selected;
    rows.count = count;
    auto values = std::make_unique<duckdb::Vector>(scan_.columns()[filter.column].type);
    ARROW_RETURN_NOT_OK(Fill(filter.column, rows, Placing::kInWindow, *values));
    filter.filter.Select(*values, rows.length, selected, count);
    if (filter.is_given_out) filter.kept[window] = std::move(values);
  }
  unit_->candidates.Retain(FirstOf(window), rows.length, selected, count);
  return arrow::Status::OK();
}

/// Reads what the rows that pass have in the columns without a filter.
arrow::Status UnitScan::ReadOthers(ClientContext& context) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (unit_->pages[i] == nullptr || scan_.IsFirst(i)) continue;
    unit_->pages[i]->Plan(unit_->second.reads, [this](uint32_t first, uint32_t end) {
      return unit_->candidates.Any(first - unit_->first_row, end - unit_->first_row);
    });
  }
  if (unit_->second.reads.ranges().empty()) return arrow::Status::OK();
  FlatScan::Ask(*unit_->file, unit_->second);
  return TakeBytes(context, unit_->second);
}

arrow::Status UnitScan::Fill(size_t column, const WindowRows& rows, Placing placing,
                             duckdb::Vector& out) {
  const ScanColumn& kind = scan_.columns()[column];
  const uint32_t first_doc = unit_->first_doc + (rows.first_row - unit_->first_row);
  switch (kind.kind) {
    case Kind::kEmpty:
      out.Reference(duckdb::Value(kind.type));
      break;
    case Kind::kFile:
      out.Reference(duckdb::Value::UBIGINT(unit_->file->place));
      break;
    case Kind::kRow:
      WriteEach<int64_t>(rows, placing, out,
                         [&](size_t at) { return static_cast<int64_t>(first_doc + at); });
      break;
    case Kind::kId:
      WriteEach<duckdb::hugeint_t>(rows, placing, out, [&](size_t at) {
        return HugeintOf(unit_->file->reader->IdOf(first_doc + static_cast<uint32_t>(at)));
      });
      break;
    case Kind::kStored:
      if (unit_->pages[column] == nullptr) {
        out.Reference(duckdb::Value(kind.type));
        break;
      }
      return columns_[column].Read(scan_.IsFirst(column) ? unit_->first.reads : unit_->second.reads,
                                   rows, placing, out);
  }
  return arrow::Status::OK();
}

arrow::Status UnitScan::GiveOut(size_t window, const WindowRows& rows, duckdb::DataChunk& chunk) {
  for (size_t i = 0; i < scan_.output().size(); ++i) {
    const size_t column = scan_.output()[i];
    const auto filter = std::ranges::find(filters_, column, &Filter::column);
    if (filter == filters_.end()) {
      ARROW_RETURN_NOT_OK(Fill(column, rows, Placing::kDense, chunk.data[i]));
      continue;
    }
    chunk.data[i].Reference(*filter->kept[window]);
    if (rows.selected != nullptr) chunk.data[i].Slice(*rows.selected, rows.count);
  }
  chunk.SetCardinality(rows.count);
  return arrow::Status::OK();
}

}  // namespace infino::sql
