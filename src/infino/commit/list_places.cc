#include "infino/commit/list_places.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_base.h>
#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

namespace infino {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

template <typename ListArrayType>
ListPlaces PlacesIn(const arrow::Array& array) {
  const auto& lists = static_cast<const ListArrayType&>(array);
  ListPlaces places{.values = lists.values(), .starts = {}, .lengths = {}};
  const auto count = static_cast<size_t>(lists.length());
  places.starts.reserve(count);
  places.lengths.reserve(count);
  for (int64_t i = 0; i < lists.length(); ++i) {
    places.starts.push_back(lists.value_offset(i));
    places.lengths.push_back(lists.IsNull(i) ? 0 : lists.value_length(i));
  }
  return places;
}

}  // namespace

ListPlaces PlacesOf(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::LARGE_LIST:
      return PlacesIn<arrow::LargeListArray>(array);
    case arrow::Type::FIXED_SIZE_LIST:
      return PlacesIn<arrow::FixedSizeListArray>(array);
    case arrow::Type::LIST_VIEW:
      return PlacesIn<arrow::ListViewArray>(array);
    case arrow::Type::LARGE_LIST_VIEW:
      return PlacesIn<arrow::LargeListViewArray>(array);
    case arrow::Type::MAP:
      return PlacesIn<arrow::MapArray>(array);
    default:
      return PlacesIn<arrow::ListArray>(array);
  }
}

arrow::Result<ArrayPtr> GatherValues(const arrow::Array& lists, const ListPlaces& places,
                                     int64_t filler) {
  bool contiguous = filler == 0 || lists.null_count() == 0;
  int64_t total = 0;
  int64_t first = -1;
  for (size_t i = 0; contiguous && i < places.starts.size(); ++i) {
    if (places.lengths[i] == 0) continue;
    if (first < 0) first = places.starts[i];
    contiguous = places.starts[i] == first + total;
    total += places.lengths[i];
  }
  if (contiguous) return places.values->Slice(first < 0 ? 0 : first, total);
  std::unique_ptr<arrow::ArrayBuilder> builder;
  ARROW_RETURN_NOT_OK(
      arrow::MakeBuilder(arrow::default_memory_pool(), places.values->type(), &builder));
  for (int64_t i = 0; i < lists.length(); ++i) {
    const auto place = static_cast<size_t>(i);
    if (lists.IsNull(i)) {
      ARROW_RETURN_NOT_OK(builder->AppendEmptyValues(filler));
    } else {
      ARROW_RETURN_NOT_OK(builder->AppendArraySlice(arrow::ArraySpan(*places.values->data()),
                                                    places.starts[place], places.lengths[place]));
    }
  }
  return builder->Finish();
}

}  // namespace infino
