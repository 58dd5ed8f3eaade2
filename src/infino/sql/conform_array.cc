#include "infino/sql/conform_array.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include <arrow/array/data.h>
#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/float16.h>

#include "infino/error.h"

namespace infino::sql {
namespace {

using arrow::internal::checked_cast;
using Data = std::shared_ptr<arrow::ArrayData>;

/// The validity of `data`, its first element at bit 0.
arrow::Result<std::shared_ptr<arrow::Buffer>> Validity(const arrow::ArrayData& data) {
  const std::shared_ptr<arrow::Buffer>& bits = data.buffers[0];
  if (bits == nullptr || data.offset == 0) return bits;
  return arrow::internal::CopyBitmap(arrow::default_memory_pool(), bits->data(), data.offset,
                                     data.length);
}

/// Values of one fixed-width type as those of another, one by one.
template <typename From, typename To, typename Convert>
arrow::Result<Data> Map(const arrow::ArrayData& data, const std::shared_ptr<arrow::DataType>& type,
                        const Convert& convert) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(data.length * static_cast<int64_t>(sizeof(To))));
  const auto* from = data.GetValues<From>(1);
  auto* to = reinterpret_cast<To*>(values->mutable_data());
  for (int64_t i = 0; i < data.length; ++i) to[i] = convert(from[i]);
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(data));
  return arrow::ArrayData::Make(type, data.length, {std::move(validity), std::move(values)},
                                data.null_count.load());
}

/// Whether values of `from` are those of `to` bit for bit.
bool SameValues(const arrow::DataType& from, const arrow::DataType& to) {
  if (from.num_fields() == 0 && from.Equals(to)) return true;
  if (from.id() == arrow::Type::INT64) return to.id() == arrow::Type::DURATION;
  return from.id() == arrow::Type::TIMESTAMP && to.id() == arrow::Type::TIMESTAMP &&
         checked_cast<const arrow::TimestampType&>(from).unit() ==
             checked_cast<const arrow::TimestampType&>(to).unit();
}

int64_t PerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1'000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    default:
      return 1'000'000'000;
  }
}

arrow::Result<Data> Rescale(const arrow::ArrayData& data,
                            const std::shared_ptr<arrow::DataType>& type) {
  const int64_t from = PerSecond(checked_cast<const arrow::TimestampType&>(*data.type).unit());
  const int64_t to = PerSecond(checked_cast<const arrow::TimestampType&>(*type).unit());
  return Map<int64_t, int64_t>(data, type, [=](int64_t value) {
    return to >= from ? static_cast<int64_t>(static_cast<uint64_t>(value) *
                                             static_cast<uint64_t>(to / from))
                      : value / (from / to);
  });
}

arrow::Result<Data> ToFixedBinary(const arrow::ArrayData& data,
                                  const std::shared_ptr<arrow::DataType>& type) {
  const auto width =
      static_cast<size_t>(checked_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateBuffer(data.length * static_cast<int64_t>(width)));
  const auto* offsets = data.GetValues<int64_t>(1);
  uint8_t* const to = values->mutable_data();
  std::memset(to, 0, static_cast<size_t>(values->size()));
  for (int64_t i = 0; i < data.length; ++i) {
    const auto length = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    if (length == width) {
      std::memcpy(to + static_cast<size_t>(i) * width, data.buffers[2]->data() + offsets[i], width);
    }
  }
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(data));
  return arrow::ArrayData::Make(type, data.length, {std::move(validity), std::move(values)},
                                data.null_count.load());
}

/// A list of 64-bit offsets as one of 32-bit offsets.
arrow::Result<Data> ToSmallList(const arrow::ArrayData& data,
                                const std::shared_ptr<arrow::DataType>& type) {
  const auto* from = data.GetValues<int64_t>(1);
  if (from[data.length] > std::numeric_limits<int32_t>::max()) {
    return MakeError(
        ErrorKind::kResourceExhausted,
        "SQL: the lists of one batch of the result have more than 2^31 items together");
  }
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> offsets,
      arrow::AllocateBuffer((data.length + 1) * static_cast<int64_t>(sizeof(int32_t))));
  auto* to = reinterpret_cast<int32_t*>(offsets->mutable_data());
  for (int64_t i = 0; i <= data.length; ++i) to[i] = static_cast<int32_t>(from[i]);
  ARROW_ASSIGN_OR_RAISE(auto items, ConformArray(data.child_data[0], type->field(0)->type()));
  ARROW_ASSIGN_OR_RAISE(auto validity, Validity(data));
  return arrow::ArrayData::Make(type, data.length, {std::move(validity), std::move(offsets)},
                                {std::move(items)}, data.null_count.load());
}

/// The same array with conformed children.
arrow::Result<Data> ConformChildren(const Data& data,
                                    const std::shared_ptr<arrow::DataType>& type) {
  auto conformed = std::make_shared<arrow::ArrayData>(*data);
  conformed->type = type;
  for (size_t i = 0; i < conformed->child_data.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(
        conformed->child_data[i],
        ConformArray(data->child_data[i], type->field(static_cast<int>(i))->type()));
  }
  return conformed;
}

}  // namespace

arrow::Result<Data> ConformArray(const Data& data, const std::shared_ptr<arrow::DataType>& type) {
  const arrow::DataType& from = *data->type;
  if (SameValues(from, *type)) {
    auto same = std::make_shared<arrow::ArrayData>(*data);
    same->type = type;
    return same;
  }
  switch (type->id()) {
    case arrow::Type::LIST:
      if (from.id() == arrow::Type::LARGE_LIST) return ToSmallList(*data, type);
      break;
    case arrow::Type::STRUCT:
    case arrow::Type::MAP:
    case arrow::Type::FIXED_SIZE_LIST:
      if (from.id() == type->id()) return ConformChildren(data, type);
      break;
    case arrow::Type::FIXED_SIZE_BINARY:
      if (from.id() == arrow::Type::LARGE_BINARY) return ToFixedBinary(*data, type);
      break;
    case arrow::Type::HALF_FLOAT:
      if (from.id() != arrow::Type::FLOAT) break;
      return Map<float, uint16_t>(
          *data, type, [](float value) { return arrow::util::Float16::FromFloat(value).bits(); });
    case arrow::Type::DATE64:
      if (from.id() != arrow::Type::DATE32) break;
      return Map<int32_t, int64_t>(*data, type,
                                   [](int32_t days) { return int64_t{days} * 86'400'000; });
    case arrow::Type::TIME32: {
      if (from.id() != arrow::Type::TIME64) break;
      const int64_t divisor =
          1'000'000 / PerSecond(checked_cast<const arrow::Time32Type&>(*type).unit());
      return Map<int64_t, int32_t>(*data, type, [divisor](int64_t micros) {
        return static_cast<int32_t>(micros / divisor);
      });
    }
    case arrow::Type::TIMESTAMP:
      if (from.id() == arrow::Type::TIMESTAMP) return Rescale(*data, type);
      break;
    default:
      break;
  }
  return MakeError(ErrorKind::kInternal, "SQL: a result of type " + from.ToString() +
                                             " cannot be given as " + type->ToString());
}

}  // namespace infino::sql
