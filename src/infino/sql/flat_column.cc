#include "infino/sql/flat_column.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "duckdb/common/types/selection_vector.hpp"
#include "duckdb/common/types/vector.hpp"
#include "duckdb/common/types/vector_buffer.hpp"
#include "infino/sql/flat_conversion.h"
#include "infino/superfile/column_pages.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/page_values.h"

namespace infino::sql {
namespace {

using duckdb::FlatVector;
using Form = PageValues::Form;

/// Keeps what strings of a vector point into.
template <typename T>
class Keeper final : public duckdb::VectorBuffer {
 public:
  explicit Keeper(std::shared_ptr<T> kept)
      : VectorBuffer(duckdb::VectorBufferType::OPAQUE_BUFFER), kept_(std::move(kept)) {}

 private:
  std::shared_ptr<T> kept_;
};

bool HoldsStrings(const duckdb::LogicalType& type) {
  return type.InternalType() == duckdb::PhysicalType::VARCHAR;
}

}  // namespace

void FlatColumn::Start(const FlatConversion& conversion, ColumnPages& pages) {
  conversion_ = conversion;
  pages_ = &pages;
}

arrow::Status FlatColumn::Read(const PageReads& reads, const WindowRows& rows, Placing placing,
                               duckdb::Vector& out) {
  bool is_indexed = false;
  for (size_t done = 0; done < rows.count;) {
    ARROW_ASSIGN_OR_RAISE(const ColumnPages::Page page, pages_->At(rows.RowAt(done), reads));
    const PageValues& values = *page.values;
    RowMove move;
    size_t end = done;
    if (rows.selected == nullptr) {
      const uint32_t first = rows.RowAt(done);
      end = std::min<size_t>(rows.count, done + (page.end_row - first));
      move = {.first_from = first - page.first_row, .first_to = done};
    } else {
      from_.clear();
      for (; end < rows.count && rows.RowAt(end) < page.end_row; ++end) {
        from_.push_back(rows.RowAt(end) - page.first_row);
      }
      move = {.from = from_.data(), .first_to = done};
      if (placing == Placing::kInWindow) move.to = rows.selected->data() + done;
    }
    move.count = end - done;
    if (values.form == Form::kIndices) {
      ARROW_RETURN_NOT_OK(ReadDictionary(reads));
      if (done == 0 && HoldsStrings(conversion_.type)) {
        is_indexed = true;
        indices_.Initialize(STANDARD_VECTOR_SIZE);
        std::fill_n(indices_.data(), rows.length, duckdb::sel_t{0});
      }
    }
    if (is_indexed && values.form == Form::kIndices) {
      WriteIndices(values, move);
    } else {
      if (is_indexed) Unindex(rows, done, placing, out);
      is_indexed = false;
      if (values.form == Form::kIndices) {
        WriteIndexed(values, dictionary_.values->data, move, out);
        if (HoldsStrings(conversion_.type)) {
          duckdb::StringVector::AddBuffer(out, dictionary_.keeper);
        }
      } else {
        WriteValues(conversion_, values, move, out);
        Keep(values.owner, out);
      }
    }
    done = end;
  }
  if (is_indexed) out.Dictionary(dictionary_.values, indices_);
  return arrow::Status::OK();
}

void FlatColumn::Keep(const std::shared_ptr<arrow::Buffer>& owner, duckdb::Vector& out) {
  if (owner == nullptr || !HoldsStrings(conversion_.type)) return;
  duckdb::StringVector::AddBuffer(out, duckdb::make_buffer<Keeper<arrow::Buffer>>(owner));
}

arrow::Status FlatColumn::ReadDictionary(const PageReads& reads) {
  ARROW_ASSIGN_OR_RAISE(auto source, pages_->Dictionary(reads));
  if (source == dictionary_.source && dictionary_.values != nullptr &&
      dictionary_.values->data.GetType() == conversion_.type) {
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const PageValues values, pages_->ValuesOf(*source));
  const size_t count = source->size();
  dictionary_.values =
      duckdb::DictionaryVector::CreateReusableDictionary(conversion_.type, count + 1);
  duckdb::Vector& flat = dictionary_.values->data;
  WriteValues(conversion_, values, {.count = count}, flat);
  FlatVector::SetNull(flat, count, true);
  if (HoldsStrings(conversion_.type)) {
    dictionary_.keeper = duckdb::make_buffer<Keeper<const PageDictionary>>(source);
    duckdb::StringVector::AddBuffer(flat, dictionary_.keeper);
  }
  dictionary_.source = std::move(source);
  return arrow::Status::OK();
}

void FlatColumn::WriteIndices(const PageValues& values, const RowMove& move) {
  const auto null_index = static_cast<uint32_t>(dictionary_.source->size());
  duckdb::sel_t* const out = indices_.data();
  if (values.valid.empty() && move.from == nullptr) {
    std::copy_n(values.indices.data() + move.first_from, move.count, out + move.first_to);
    return;
  }
  for (size_t i = 0; i < move.count; ++i) {
    const uint32_t from =
        move.from == nullptr ? move.first_from + static_cast<uint32_t>(i) : move.from[i];
    const size_t to = move.to == nullptr ? move.first_to + i : move.to[i];
    out[to] = values.IsValid(from) ? values.indices[from] : null_index;
  }
}

/// Writes the values of the first `count` rows, which have only indices yet.
void FlatColumn::Unindex(const WindowRows& rows, size_t count, Placing placing,
                         duckdb::Vector& out) {
  const bool in_window = placing == Placing::kInWindow && rows.selected != nullptr;
  const auto null_index = static_cast<uint32_t>(dictionary_.source->size());
  const auto* const entries =
      FlatVector::GetDataUnsafe<duckdb::string_t>(std::as_const(dictionary_.values->data));
  auto* const data = FlatVector::GetDataUnsafe<duckdb::string_t>(out);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = in_window ? rows.selected->get_index(i) : i;
    const duckdb::sel_t index = indices_[at];
    if (index == null_index) {
      FlatVector::SetNull(out, at, true);
    } else {
      data[at] = entries[index];
    }
  }
  duckdb::StringVector::AddBuffer(out, dictionary_.keeper);
}

}  // namespace infino::sql
