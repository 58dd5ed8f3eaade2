#include "infino/sql/table_scan.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/function/partition_stats.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/main/extension/extension_loader.hpp"
#include "duckdb/storage/statistics/node_statistics.hpp"
#include "infino/sql/bound_copy.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/few_rows.h"
#include "infino/sql/flat_scan.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/superfile_scan.h"
#include "infino/sql/table_source.h"
#include "infino/sql/unit_scan.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using duckdb::optional_ptr;

const duckdb::TableFunction& ParquetScan(ClientContext& context) {
  return StatementState::Of(context).parquet_scan();
}

/// A scan under way: the few rows that it gives, or our own scan, or DuckDB's own state.
struct ScanProgress final : duckdb::GlobalTableFunctionState {
  [[nodiscard]] duckdb::idx_t MaxThreads() const override {
    if (few != nullptr) return std::max<size_t>(few->batch_count(), 1);
    return flat != nullptr ? flat->unit_count() : parquet->MaxThreads();
  }

  std::unique_ptr<FewRows> few;
  std::unique_ptr<FlatScan> flat;
  duckdb::unique_ptr<duckdb::GlobalTableFunctionState> parquet;
};

/// A thread's part in our own scan.
struct ThreadProgress final : duckdb::LocalTableFunctionState {
  ThreadProgress(ClientContext& context, FlatScan& scan) : units(context, scan) {}

  UnitScan units;
};

duckdb::unique_ptr<duckdb::GlobalTableFunctionState> Start(ClientContext& context,
                                                           duckdb::TableFunctionInitInput& input) {
  auto progress = duckdb::make_uniq<ScanProgress>();
  progress->few = ValueOrThrow(context, FewRows::Find(context, input));
  if (progress->few != nullptr) return progress;
  progress->flat = ValueOrThrow(context, FlatScan::Make(context, input));
  if (progress->flat == nullptr) {
    progress->parquet = ParquetScan(context).init_global(context, input);
  }
  return progress;
}

duckdb::unique_ptr<duckdb::LocalTableFunctionState> StartThread(
    duckdb::ExecutionContext& context, duckdb::TableFunctionInitInput& input,
    duckdb::GlobalTableFunctionState* state) {
  auto& progress = state->Cast<ScanProgress>();
  if (progress.few != nullptr) return duckdb::make_uniq<FewRows::Reading>();
  if (progress.flat != nullptr) {
    return duckdb::make_uniq<ThreadProgress>(context.client, *progress.flat);
  }
  return ParquetScan(context.client).init_local(context, input, progress.parquet.get());
}

void Scan(ClientContext& context, duckdb::TableFunctionInput& input, duckdb::DataChunk& chunk) {
  auto& progress = input.global_state->Cast<ScanProgress>();
  if (progress.few != nullptr) {
    progress.few->Next(context, input.local_state->Cast<FewRows::Reading>(), chunk);
    return;
  }
  if (progress.flat != nullptr) {
    input.local_state->Cast<ThreadProgress>().units.Next(context, chunk);
    return;
  }
  duckdb::TableFunctionInput inner(input.bind_data, input.local_state, progress.parquet.get());
  inner.results_execution_mode = input.results_execution_mode;
  ParquetScan(context).function(context, inner, chunk);
  input.async_result = std::move(inner.async_result);
}

duckdb::OperatorPartitionData PartitionOf(ClientContext& context,
                                          duckdb::TableFunctionGetPartitionInput& input) {
  auto& progress = input.global_state->Cast<ScanProgress>();
  if (progress.few != nullptr) {
    return duckdb::OperatorPartitionData(input.local_state->Cast<FewRows::Reading>().batch);
  }
  if (progress.flat != nullptr) {
    return duckdb::OperatorPartitionData(input.local_state->Cast<ThreadProgress>().units.ordinal());
  }
  duckdb::TableFunctionGetPartitionInput inner(input.bind_data, input.local_state,
                                               progress.parquet.get(), input.partition_info);
  return ParquetScan(context).get_partition_data(context, inner);
}

double ProgressOf(ClientContext& context, const duckdb::FunctionData* bound,
                  const duckdb::GlobalTableFunctionState* state) {
  const auto& progress = state->Cast<ScanProgress>();
  if (progress.few != nullptr) return 100;
  if (progress.flat != nullptr) return progress.flat->progress();
  return ParquetScan(context).table_scan_progress(context, bound, progress.parquet.get());
}

/// The live rows of a table in one piece: what COUNT(*) and other aggregates without a filter take
/// in place of a scan.
duckdb::vector<duckdb::PartitionStatistics> PartitionsOf(ClientContext& /*context*/,
                                                         duckdb::GetPartitionStatsInput& input) {
  return PartitionStatisticsOf(ScannedFiles(*input.bind_data), ScannedColumns(*input.bind_data));
}

duckdb::BindInfo BindInfoOf(const optional_ptr<duckdb::FunctionData> bound) {
  return duckdb::BindInfo(ScannedTable(*bound));
}

duckdb::unique_ptr<duckdb::NodeStatistics> CardinalityOf(ClientContext& context,
                                                         const duckdb::FunctionData* bound) {
  return ScannedFiles(*bound).GetCardinality(context);
}

duckdb::unique_ptr<duckdb::BaseStatistics> StatisticsOf(ClientContext& /*context*/,
                                                        const duckdb::FunctionData* bound,
                                                        duckdb::column_t column) {
  return StatisticsOfAll(ScannedFiles(*bound), ScannedColumns(*bound), column);
}

duckdb::InsertionOrderPreservingMap<duckdb::string> Explain(
    duckdb::TableFunctionToStringInput& input) {
  const SuperfileList& list = ScannedFiles(*input.bind_data);
  duckdb::InsertionOrderPreservingMap<duckdb::string> lines;
  lines["Table"] = list.table().name;
  lines["Superfiles"] = std::to_string(list.items().size()) + " of " +
                        std::to_string(list.table().snapshot->files.size());
  return lines;
}

/// What is known of a scan once it has run.
duckdb::InsertionOrderPreservingMap<duckdb::string> Report(
    duckdb::TableFunctionDynamicToStringInput& input) {
  duckdb::InsertionOrderPreservingMap<duckdb::string> lines;
  if (input.global_state == nullptr) return lines;
  const auto& progress = input.global_state->Cast<ScanProgress>();
  lines["Rows by"] = progress.few == nullptr ? "scan" : progress.few->Describe();
  return lines;
}

duckdb::unique_ptr<duckdb::FunctionData> RefuseToBind(
    ClientContext& /*context*/, duckdb::TableFunctionBindInput& /*input*/,
    duckdb::vector<duckdb::LogicalType>& /*types*/, duckdb::vector<duckdb::string>& /*names*/) {
  throw duckdb::BinderException("a table is read by its name");
}

duckdb::TableFunction FunctionOf(const duckdb::TableFunction& parquet_scan) {
  duckdb::TableFunction function = parquet_scan;
  function.name = "infino_scan";
  function.bind = RefuseToBind;
  function.init_global = Start;
  function.init_local = StartThread;
  function.function = Scan;
  function.get_partition_data = PartitionOf;
  function.table_scan_progress = ProgressOf;
  function.get_partition_stats = PartitionsOf;
  function.get_bind_info = BindInfoOf;
  function.get_metrics = nullptr;
  function.cardinality = CardinalityOf;
  function.statistics = StatisticsOf;
  function.statistics_extended = nullptr;
  function.get_virtual_columns = [](ClientContext& /*context*/,
                                    optional_ptr<duckdb::FunctionData> /*bound*/) {
    return ScanVirtualColumns();
  };
  function.to_string = Explain;
  function.dynamic_to_string = Report;
  function.named_parameters.clear();
  LetPlansBeCopied(function);
  return function;
}

}  // namespace

void RegisterTableScan(duckdb::DatabaseInstance& database,
                       const duckdb::TableFunction& parquet_scan) {
  duckdb::ExtensionLoader(database, "infino").RegisterFunction(FunctionOf(parquet_scan));
}

bool IsTableScan(const duckdb::TableFunction& function) {
  return function.init_global == Start;
}

duckdb::TableFunction BindTableScan(ClientContext& context, duckdb::TableCatalogEntry& entry,
                                    const PinnedTable& table,
                                    duckdb::unique_ptr<duckdb::FunctionData>& bound) {
  bound = BindSuperfiles(context, entry, table);
  return FunctionOf(ParquetScan(context));
}

}  // namespace infino::sql
