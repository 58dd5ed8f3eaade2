#include "infino/superfile/column_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_traits.h>

#include "infino/error.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/page_dictionaries.h"
#include "infino/superfile/page_reads.h"
#include "infino/superfile/page_values.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"

namespace infino {
namespace {

/// The page with that row.
size_t PageOf(const ChunkPages& chunk, uint32_t row) {
  const auto after =
      std::ranges::upper_bound(chunk.pages, row, std::ranges::less(), &PagePlace::first_row);
  return static_cast<size_t>(after - chunk.pages.begin()) - 1;
}

}  // namespace

ColumnPages::ColumnPages(std::shared_ptr<const SuperfileReader> superfile,
                         std::shared_ptr<const RowFetchMap> map, std::string name,
                         const FlatLayout& layout, const ChunkRows& part)
    : superfile_(std::move(superfile)),
      map_(std::move(map)),
      name_(std::move(name)),
      layout_(layout),
      part_(part),
      chunk_(&map_->Chunk(part.row_group, part.leaf)),
      reader_(layout, map_->compression()) {
  const auto group = static_cast<size_t>(part.row_group);
  group_rows_ =
      static_cast<uint32_t>(map_->row_group_starts()[group + 1] - map_->row_group_starts()[group]);
  first_page_ = PageOf(*chunk_, part.first_row);
}

uint32_t ColumnPages::EndOf(size_t page) const {
  return page + 1 < chunk_->pages.size() ? chunk_->pages[page + 1].first_row : group_rows_;
}

void ColumnPages::Plan(PageReads& reads, const AnyWanted& any_wanted) {
  const uint32_t end = part_.first_row + part_.row_count;
  const size_t page_end = PageOf(*chunk_, end - 1) + 1;
  planned_.assign(page_end - first_page_, PlannedPage{});
  const auto is_wanted = [&](size_t page) {
    const uint32_t first = std::max(chunk_->pages[page].first_row, part_.first_row);
    return any_wanted == nullptr || any_wanted(first, std::min(EndOf(page), end));
  };
  bool has_dictionary = chunk_->dictionary.length == 0;
  for (size_t page = first_page_; page < page_end; ++page) {
    if (!is_wanted(page)) continue;
    if (!has_dictionary) {
      has_dictionary = true;
      dictionary_ = superfile_->dictionaries().Find(part_.row_group, part_.leaf);
      if (dictionary_ == nullptr) {
        dictionary_page_ = reads.Add(chunk_->dictionary, chunk_->dictionary_checksum);
      }
    }
    const PagePlace& place = chunk_->pages[page];
    planned_[page - first_page_] =
        reads.Add({.offset = place.offset, .length = place.length}, place.checksum);
  }
}

arrow::Result<std::shared_ptr<const PageDictionary>> ColumnPages::Dictionary(
    const PageReads& reads) {
  if (dictionary_ != nullptr || dictionary_page_.length == 0) return dictionary_;
  auto read = PageDictionary::Read(layout_, map_->compression(), reads.BytesOf(dictionary_page_));
  if (!read.ok()) return Located(read.status(), reads.OffsetOf(dictionary_page_));
  dictionary_ = *std::move(read);
  superfile_->dictionaries().Keep(part_.row_group, part_.leaf, dictionary_);
  return dictionary_;
}

arrow::Result<PageValues> ColumnPages::ValuesOf(const PageDictionary& dictionary) const {
  auto values = reader_.Read(dictionary);
  return values.ok() ? values : Located(values.status(), chunk_->dictionary.offset);
}

arrow::Result<ColumnPages::Page> ColumnPages::At(uint32_t row, const PageReads& reads) {
  size_t page = current_;
  if (page == kNone || row < chunk_->pages[page].first_row) {
    page = PageOf(*chunk_, row);
  } else {
    while (row >= EndOf(page)) ++page;
  }
  const uint32_t first = chunk_->pages[page].first_row;
  const uint32_t end = EndOf(page);
  if (page != current_) {
    current_ = kNone;
    ARROW_ASSIGN_OR_RAISE(const auto dictionary, Dictionary(reads));
    const PlannedPage& planned = planned_[page - first_page_];
    const arrow::Status status =
        reader_.Read(reads.BufferOf(planned), end - first, dictionary.get(), values_);
    if (!status.ok()) return Located(status, reads.OffsetOf(planned));
    ARROW_RETURN_NOT_OK(NoteBound(page, dictionary.get()));
    current_ = page;
  }
  return Page{.values = &values_, .first_row = first, .end_row = end};
}

/// Whether values are texts, or integers that 64 signed bits hold.
bool ColumnPages::HasBounds() const {
  const arrow::Type::type id = layout_.type->id();
  if (layout_.shape == FlatLayout::Shape::kInteger) return id != arrow::Type::UINT64;
  return arrow::is_string(id) || id == arrow::Type::STRING_VIEW;
}

/// A value as bounds have it.
int64_t ColumnPages::NumberAt(const PageValues& values, size_t place) const {
  if (values.form == PageValues::Form::kBytes) return NumberOfPrefix(values.bytes[place]);
  const uint64_t number = values.numbers[place];
  if (layout_.stored_width == sizeof(uint64_t)) return static_cast<int64_t>(number);
  return arrow::is_unsigned_integer(layout_.type->id()) ? int64_t{static_cast<uint32_t>(number)}
                                                        : int64_t{static_cast<int32_t>(number)};
}

arrow::Status ColumnPages::NoteBound(size_t page, const PageDictionary* dictionary) {
  if (!HasBounds()) return arrow::Status::OK();
  PageBounds& kept = superfile_->dictionaries().bounds();
  if (bounds_.empty()) {
    bounds_ = kept.Of(part_.row_group, part_.leaf);
    bounds_.resize(chunk_->pages.size());
  }
  if (bounds_[page].is_known) return arrow::Status::OK();
  const bool is_indexed = values_.form == PageValues::Form::kIndices;
  if (is_indexed && dictionary_numbers_.empty()) {
    ARROW_ASSIGN_OR_RAISE(const PageValues entries, ValuesOf(*dictionary));
    for (size_t i = 0; i < entries.row_count; ++i) {
      dictionary_numbers_.push_back(NumberAt(entries, i));
    }
  }
  PageBound bound{.is_known = true};
  for (uint32_t row = 0; row < values_.row_count; ++row) {
    if (!values_.IsValid(row)) {
      bound.has_null = true;
    } else {
      bound.Add(is_indexed ? dictionary_numbers_[values_.indices[row]] : NumberAt(values_, row));
    }
  }
  bounds_[page] = bound;
  kept.Note(part_.row_group, part_.leaf, bounds_.size(), page, bound);
  return arrow::Status::OK();
}

void ColumnPages::VisitBounds(
    const std::function<void(uint32_t, uint32_t, const PageBound&)>& visit) const {
  if (!HasBounds()) return;
  const auto bounds = superfile_->dictionaries().bounds().Of(part_.row_group, part_.leaf);
  const uint32_t end = part_.first_row + part_.row_count;
  for (size_t page = first_page_; page < bounds.size(); ++page) {
    if (chunk_->pages[page].first_row >= end) return;
    if (!bounds[page].is_known) continue;
    visit(std::max(chunk_->pages[page].first_row, part_.first_row), std::min(EndOf(page), end),
          bounds[page]);
  }
}

arrow::Status ColumnPages::Located(const arrow::Status& status, int64_t offset) const {
  return FromForeign(status, superfile_->name() + ": column '" + name_ +
                                 "': page with offset=" + std::to_string(offset));
}

}  // namespace infino
