#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "infino/common/random.h"

namespace infino {

/// A type that a column can have, and how a schema document says so: JSON without the braces.
struct ModelType {
  std::shared_ptr<arrow::DataType> type;
  std::string document;
};

/// Types that a column can have one after the other; written down here, not asked of the library.
[[nodiscard]] const std::vector<std::vector<ModelType>>& TypeChains();

/// A column of the model.
struct ModelColumn {
  std::string name;
  size_t chain = 0;   ///< Of TypeChains.
  size_t place = 0;   ///< In the chain.
  bool text = false;  ///< Whether it has a keyword index; then its values are words.

  [[nodiscard]] const ModelType& type() const { return TypeChains()[chain][place]; }
};

/// What a table should hold: columns by an id that is never used again, and rows of values that are
/// JSON, which any of a column's types reads. A value that is not there is null.
class TableModel {
 public:
  /// Of the columns that an append gives, by id; the others stay null.
  using Row = std::map<int, std::string>;

  [[nodiscard]] int Add(ModelColumn column);

  void Drop(int id) { columns_.erase(id); }

  [[nodiscard]] ModelColumn& column(int id) { return columns_.at(id); }

  [[nodiscard]] const std::map<int, ModelColumn>& columns() const { return columns_; }

  [[nodiscard]] bool HasName(std::string_view name) const;

  /// The ids in the order in which the table has the columns: that of being added.
  [[nodiscard]] std::vector<int> ids() const;

  void AddRow(Row row) { rows_.push_back(std::move(row)); }

  [[nodiscard]] size_t row_count() const { return rows_.size(); }

  /// The values of a column from `first` on.
  [[nodiscard]] std::shared_ptr<arrow::Array> Values(int id, size_t first = 0) const;

  /// How many rows have `word` among the words of a text column.
  [[nodiscard]] uint64_t CountWord(int id, std::string_view word) const;

 private:
  int next_id_ = 0;
  std::map<int, ModelColumn> columns_;
  std::vector<Row> rows_;
};

/// A value of the column's type, as JSON; "null" now and then.
[[nodiscard]] std::string RandomValue(const ModelColumn& column, Random& random);

}  // namespace infino
