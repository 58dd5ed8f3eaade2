#include "infino/sql/superfile_scan.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/multi_file/multi_file_data.hpp"
#include "duckdb/common/multi_file/multi_file_reader.hpp"
#include "duckdb/common/multi_file/multi_file_states.hpp"
#include "duckdb/function/table_function.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/optimizer/filter_combiner.hpp"
#include "duckdb/parser/expression/constant_expression.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"
#include "infino/error.h"
#include "infino/index/doc_filter.h"
#include "infino/query/opened_files.h"
#include "infino/query/query_environment.h"
#include "infino/query/tombstones.h"
#include "infino/sql/duckdb_status.h"
#include "infino/sql/manifest_statistics.h"
#include "infino/sql/sql_types.h"
#include "infino/sql/statement_state.h"
#include "infino/sql/superfile_list.h"
#include "infino/sql/table_source.h"
#include "infino/superfile/superfile_reader.h"

namespace infino::sql {
namespace {

using duckdb::ClientContext;
using duckdb::MultiFileBindData;
using duckdb::MultiFileReader;
using duckdb::optional_ptr;

/// The table of a scan.
struct ScanInfo final : duckdb::TableFunctionInfo {
  ScanInfo(const PinnedTable& pinned, duckdb::TableCatalogEntry& of_entry)
      : table(pinned), entry(of_entry), columns(SqlColumnsOf(pinned.snapshot->root.schema)) {}

  const PinnedTable& table;
  duckdb::TableCatalogEntry& entry;
  const std::vector<SqlColumn> columns;
};

/// What a running scan knows of its superfiles, by their place in its list.
struct ScanState final : duckdb::MultiFileReaderGlobalState {
  explicit ScanState(const SuperfileList& files)
      : MultiFileReaderGlobalState({}, &files), live(files.items().size()) {}

  std::vector<std::shared_ptr<const DocFilter>> live;  ///< Null: all rows are left.
};

/// Leaves out deleted rows.
class LiveRowFilter final : public duckdb::DeleteFilter {
 public:
  explicit LiveRowFilter(std::shared_ptr<const DocFilter> live) : live_(std::move(live)) {}

  duckdb::idx_t Filter(duckdb::row_t first_row, duckdb::idx_t count,
                       duckdb::SelectionVector& selected) override {
    if (selected.data() == nullptr) selected.Initialize(STANDARD_VECTOR_SIZE);
    const auto first = static_cast<DocId>(first_row);
    duckdb::idx_t passing = 0;
    for (duckdb::idx_t i = 0; i < count; ++i) {
      const DocId row = first + static_cast<DocId>(i);
      selected.set_index(passing, i);
      passing += (live_->Word(row / 64) >> (row % 64)) & 1;
    }
    return passing;
  }

 private:
  std::shared_ptr<const DocFilter> live_;
};

class SuperfileReading final : public MultiFileReader {
 public:
  explicit SuperfileReading(duckdb::shared_ptr<ScanInfo> info) : info_(std::move(info)) {}

  static duckdb::unique_ptr<MultiFileReader> Make(const duckdb::TableFunction& function) {
    return duckdb::make_uniq<SuperfileReading>(
        duckdb::shared_ptr_cast<duckdb::TableFunctionInfo, ScanInfo>(function.function_info));
  }

  [[nodiscard]] duckdb::TableCatalogEntry& entry() const { return info_->entry; }

  [[nodiscard]] const std::vector<SqlColumn>& columns() const { return info_->columns; }

  duckdb::vector<duckdb::string> ParsePaths(const duckdb::Value& /*input*/) override { return {}; }

  duckdb::shared_ptr<duckdb::MultiFileList> CreateFileList(
      ClientContext& /*context*/, const duckdb::vector<duckdb::string>& /*paths*/,
      const duckdb::FileGlobInput& /*glob*/) override {
    return SuperfileList::All(info_->table);
  }

  /// Leaves out the superfiles that the manifest rules out.
  duckdb::unique_ptr<duckdb::MultiFileList> ComplexFilterPushdown(
      ClientContext& context, duckdb::MultiFileList& files,
      const duckdb::MultiFileOptions& /*options*/, duckdb::MultiFilePushdownInfo& pushed,
      duckdb::vector<duckdb::unique_ptr<duckdb::Expression>>& filters) override {
    duckdb::FilterCombiner combiner(context);
    for (const auto& filter : filters) combiner.AddFilter(filter->Copy());
    duckdb::vector<duckdb::FilterPushdownResult> outcomes;
    const duckdb::TableFilterSet set =
        combiner.GenerateTableScanFilters(pushed.column_indexes, outcomes);
    return Prune(files.Cast<SuperfileList>(), info_->columns, set);
  }

  bool Bind(duckdb::MultiFileOptions& options, duckdb::MultiFileList& /*files*/,
            duckdb::vector<duckdb::LogicalType>& types, duckdb::vector<duckdb::string>& names,
            duckdb::MultiFileReaderBindData& bind) override {
    options.auto_detect_hive_partitioning = false;
    options.hive_partitioning = false;
    options.union_by_name = false;
    for (const SqlColumn& column : info_->columns) {
      auto definition =
          duckdb::MultiFileColumnDefinition::CreateFromNameAndType(column.name, column.type);
      // A file that is older than the column has nulls.
      definition.default_expression =
          duckdb::make_uniq<duckdb::ConstantExpression>(duckdb::Value(column.type));
      bind.schema.push_back(std::move(definition));
      names.push_back(column.name);
      types.push_back(column.type);
    }
    bind.mapping = duckdb::MultiFileColumnMappingMode::BY_NAME;
    return true;
  }

  void BindOptions(duckdb::MultiFileOptions& /*options*/, duckdb::MultiFileList& /*files*/,
                   duckdb::vector<duckdb::LogicalType>& /*types*/,
                   duckdb::vector<duckdb::string>& /*names*/,
                   duckdb::MultiFileReaderBindData& /*bind*/) override {}

  /// Opens all superfiles of the scan in one round.
  duckdb::unique_ptr<duckdb::MultiFileReaderGlobalState> InitializeGlobalState(
      ClientContext& context, const duckdb::MultiFileOptions& /*options*/,
      const duckdb::MultiFileReaderBindData& /*bind*/, const duckdb::MultiFileList& files,
      const duckdb::vector<duckdb::MultiFileColumnDefinition>& /*columns*/,
      const duckdb::vector<duckdb::ColumnIndex>& /*column_ids*/) override {
    const auto& list = files.Cast<SuperfileList>();
    StatementState& statement = StatementState::Of(context);
    const std::vector<const SuperfileEntry*> entries = list.entries();
    const StopCondition stop = StopOf(context);
    const QueryContext query = {.environment = &statement.environment(),
                                .snapshot = list.table().snapshot.get(),
                                .folder = &list.table().folder,
                                .stop = &stop};
    const OpenedFiles opened = ValueOrThrow(context, OpenFiles(query, entries));
    auto state = duckdb::make_uniq<ScanState>(list);
    for (size_t i = 0; i < opened.files.size(); ++i) {
      statement.AddFile(SuperfileList::PathOf(*entries[i]),
                        {.reader = opened.files[i], .footer = entries[i]->footer});
      if (auto deleted = opened.tombstones.Find(entries[i]->id)) {
        state->live[i] = {deleted, &deleted->live};
      }
    }
    return state;
  }

  /// Opening a file parses its footer: what does not parse was written so.
  duckdb::shared_ptr<duckdb::BaseFileReader> CreateReader(ClientContext& context,
                                                          duckdb::GlobalTableFunctionState& state,
                                                          const duckdb::OpenFileInfo& file,
                                                          duckdb::idx_t item,
                                                          const MultiFileBindData& bind) override {
    try {
      return MultiFileReader::CreateReader(context, state, file, item, bind);
    } catch (const std::exception& error) {
      ThrowIfFailed(context, StatementState::Of(context).failure());
      const duckdb::ErrorData data(error);
      if (data.Type() == duckdb::ExceptionType::INTERRUPT ||
          data.Type() == duckdb::ExceptionType::OUT_OF_MEMORY) {
        throw;
      }
      const SuperfileEntry& entry = bind.file_list->Cast<SuperfileList>().entry(item);
      ThrowIfFailed(context,
                    MakeError(ErrorKind::kCorrupt,
                              "open superfile " + entry.id.ToHex() +
                                  ": its Parquet footer is damaged: " + data.RawMessage()));
      throw;
    }
  }

  duckdb::ReaderInitializeType InitializeReader(
      duckdb::MultiFileReaderData& data, const MultiFileBindData& bind,
      const duckdb::vector<duckdb::MultiFileColumnDefinition>& columns,
      const duckdb::vector<duckdb::ColumnIndex>& column_ids,
      optional_ptr<duckdb::TableFilterSet> filters, ClientContext& context,
      duckdb::MultiFileGlobalState& state) override {
    const auto& list = state.file_list.Cast<SuperfileList>();
    duckdb::BaseFileReader& reader = *data.reader;
    const size_t item = reader.file_list_idx.GetIndex();
    for (duckdb::MultiFileColumnDefinition& column : reader.columns) column.name = NameNow(column);
    for (duckdb::idx_t i = 0; i < column_ids.size(); ++i) {
      if (column_ids[i].GetPrimaryIndex() != COLUMN_IDENTIFIER_FILE_INDEX) continue;
      data.constant_map.Add(duckdb::MultiFileGlobalIndex(i),
                            duckdb::Value::UBIGINT(list.items()[item]));
    }
    const auto& scan = state.multi_file_reader_state->Cast<ScanState>();
    if (scan.live[item] != nullptr) {
      reader.deletion_filter = duckdb::make_uniq<LiveRowFilter>(scan.live[item]);
    }
    return CreateMapping(context, data, columns, column_ids, filters, state.file_list,
                         bind.reader_bind, bind.virtual_columns);
  }

  duckdb::unique_ptr<MultiFileReader> Copy() const override {
    return duckdb::make_uniq<SuperfileReading>(info_);
  }

 private:
  /// The name that the field id of a file's column has now.
  [[nodiscard]] std::string NameNow(const duckdb::MultiFileColumnDefinition& column) const {
    if (!column.identifier.IsNull() &&
        column.identifier.type().id() == duckdb::LogicalTypeId::INTEGER) {
      const int32_t field_id = column.GetIdentifierFieldId();
      for (const SqlColumn& known : info_->columns) {
        if (known.field_id == field_id) return known.name;
      }
    }
    return "";  // No column of a table is called that.
  }

  duckdb::shared_ptr<ScanInfo> info_;
};

}  // namespace

duckdb::virtual_column_map_t ScanVirtualColumns() {
  duckdb::virtual_column_map_t columns;
  columns.emplace(duckdb::COLUMN_IDENTIFIER_EMPTY,
                  duckdb::TableColumn("", duckdb::LogicalType::BOOLEAN));
  columns.emplace(MultiFileReader::COLUMN_IDENTIFIER_FILE_INDEX,
                  duckdb::TableColumn(kFileColumn, duckdb::LogicalType::UBIGINT));
  columns.emplace(MultiFileReader::COLUMN_IDENTIFIER_FILE_ROW_NUMBER,
                  duckdb::TableColumn(kRowColumn, duckdb::LogicalType::BIGINT));
  return columns;
}

duckdb::unique_ptr<duckdb::FunctionData> BindSuperfiles(ClientContext& context,
                                                        duckdb::TableCatalogEntry& entry,
                                                        const PinnedTable& table) {
  duckdb::TableFunction function = StatementState::Of(context).parquet_scan();
  function.function_info = duckdb::make_shared_ptr<ScanInfo>(table, entry);
  function.get_multi_file_reader = SuperfileReading::Make;
  duckdb::vector<duckdb::Value> inputs = {duckdb::Value("")};
  // Parquet's bounds leave NaN out, which is greater than all numbers.
  duckdb::named_parameter_map_t named = {{"can_have_nan", duckdb::Value::BOOLEAN(true)}};
  duckdb::vector<duckdb::LogicalType> input_types;
  duckdb::vector<duckdb::string> input_names;
  const duckdb::TableFunctionRef reference;
  duckdb::TableFunctionBindInput input(inputs, named, input_types, input_names,
                                       function.function_info.get(), nullptr, function, reference);
  duckdb::vector<duckdb::LogicalType> types;
  duckdb::vector<duckdb::string> names;
  auto bound = function.bind(context, input, types, names);
  bound->Cast<MultiFileBindData>().virtual_columns = ScanVirtualColumns();
  return bound;
}

const SuperfileList& ScannedFiles(const duckdb::FunctionData& bound) {
  return bound.Cast<MultiFileBindData>().file_list->Cast<SuperfileList>();
}

const std::vector<SqlColumn>& ScannedColumns(const duckdb::FunctionData& bound) {
  return bound.Cast<MultiFileBindData>().multi_file_reader->Cast<SuperfileReading>().columns();
}

duckdb::TableCatalogEntry& ScannedTable(const duckdb::FunctionData& bound) {
  return bound.Cast<MultiFileBindData>().multi_file_reader->Cast<SuperfileReading>().entry();
}

}  // namespace infino::sql
