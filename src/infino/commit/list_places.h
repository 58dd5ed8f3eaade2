#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

namespace infino {

/// The lists of an array by place: of nulls the length is 0, whatever lies behind them.
struct ListPlaces {
  std::shared_ptr<arrow::Array> values;
  std::vector<int64_t> starts;
  std::vector<int64_t> lengths;
};

/// REQUIRES: `array` is of lists, large lists, views of either, lists of fixed size, or maps.
[[nodiscard]] ListPlaces PlacesOf(const arrow::Array& array);

/// The values of all lists, one after the other, with `filler` values in the place of each list
/// that is null. Without a copy when they lie that way already.
[[nodiscard]] arrow::Result<std::shared_ptr<arrow::Array>> GatherValues(const arrow::Array& lists,
                                                                        const ListPlaces& places,
                                                                        int64_t filler);

}  // namespace infino
