#include "infino/superfile/flat_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/data.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>

#include "infino/common/bytes.h"
#include "infino/superfile/flat_layout.h"

namespace infino {

using Shape = FlatLayout::Shape;
using ArrayResult = arrow::Result<std::shared_ptr<arrow::Array>>;
using Order = std::span<const uint32_t>;

namespace {

constexpr uint32_t kByteBits = 8;
constexpr uint8_t kSignBit = 0x80;
constexpr uint8_t kAllOnes = 0xFF;

std::shared_ptr<arrow::Array> MakeArray(const std::shared_ptr<arrow::DataType>& type, Order order,
                                        std::vector<std::shared_ptr<arrow::Buffer>> buffers) {
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, static_cast<int64_t>(order.size()), std::move(buffers)));
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Allocate(size_t size) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(static_cast<int64_t>(size)));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

}  // namespace

FlatValues::FlatValues(FlatLayout layout) : layout_(std::move(layout)) {}

void FlatValues::Append(ByteSpan stored) {
  valid_.push_back(1);
  if (layout_.shape != Shape::kBigEndian) {
    const size_t taken = layout_.shape == Shape::kBytes ? stored.size() : layout_.width;
    bytes_.insert(bytes_.end(), stored.begin(), stored.begin() + static_cast<ptrdiff_t>(taken));
    if (layout_.shape == Shape::kBytes) ends_.push_back(bytes_.size());
    return;
  }
  bytes_.insert(bytes_.end(), stored.rbegin(), stored.rend());
  const uint8_t sign = (stored.front() & kSignBit) != 0 ? kAllOnes : 0;
  bytes_.insert(bytes_.end(), layout_.width - stored.size(), sign);
}

void FlatValues::AppendBit(bool value) {
  valid_.push_back(1);
  bytes_.push_back(value ? 1 : 0);
}

void FlatValues::AppendInteger(uint64_t value) {
  valid_.push_back(1);
  for (size_t i = 0; i < layout_.width; ++i) {
    bytes_.push_back(static_cast<uint8_t>(value >> (kByteBits * i)));
  }
}

void FlatValues::AppendNull() {
  valid_.push_back(0);
  has_null_ = true;
  if (layout_.shape == Shape::kBytes) {
    ends_.push_back(bytes_.size());
  } else {
    bytes_.insert(bytes_.end(), layout_.width, 0);
  }
}

ByteSpan FlatValues::BytesAt(uint32_t ordinal) const {
  const size_t start = ordinal == 0 ? 0 : ends_[ordinal - 1];
  return ByteSpan(bytes_).subspan(start, ends_[ordinal] - start);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> FlatValues::TakeValidity(Order order) const {
  if (!has_null_) return nullptr;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bitmap,
                        arrow::AllocateEmptyBitmap(static_cast<int64_t>(order.size())));
  for (size_t i = 0; i < order.size(); ++i) {
    if (valid_[order[i]] != 0) {
      arrow::bit_util::SetBit(bitmap->mutable_data(), static_cast<int64_t>(i));
    }
  }
  return bitmap;
}

template <typename Offset>
ArrayResult FlatValues::TakeBytes(Order order) const {
  ARROW_ASSIGN_OR_RAISE(auto validity, TakeValidity(order));
  uint64_t total = 0;
  for (const uint32_t ordinal : order) total += BytesAt(ordinal).size();
  if (total > static_cast<uint64_t>(std::numeric_limits<Offset>::max())) {
    return arrow::Status::CapacityError("the values have ", total,
                                        " bytes, more than an array of type ",
                                        layout_.type->ToString(), " can hold");
  }
  ARROW_ASSIGN_OR_RAISE(auto offsets, Allocate((order.size() + 1) * sizeof(Offset)));
  ARROW_ASSIGN_OR_RAISE(auto values, Allocate(total));
  Offset* const ends = offsets->template mutable_data_as<Offset>();
  uint8_t* out = values->mutable_data();
  ends[0] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const ByteSpan value = BytesAt(order[i]);
    out = std::copy(value.begin(), value.end(), out);
    ends[i + 1] = static_cast<Offset>(out - values->data());
  }
  return MakeArray(layout_.type, order,
                   {std::move(validity), std::move(offsets), std::move(values)});
}

template <typename Builder>
ArrayResult FlatValues::TakeViews(Order order) const {
  Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(order.size())));
  for (const uint32_t ordinal : order) {
    if (valid_[ordinal] == 0) {
      builder.UnsafeAppendNull();
    } else {
      // The builder copies from where even an empty value points.
      const ByteSpan value = BytesAt(ordinal);
      ARROW_RETURN_NOT_OK(builder.Append(value.empty() ? std::string_view("") : AsText(value)));
    }
  }
  return builder.Finish();
}

ArrayResult FlatValues::TakeFixed(Order order) const {
  ARROW_ASSIGN_OR_RAISE(auto validity, TakeValidity(order));
  ARROW_ASSIGN_OR_RAISE(auto values, Allocate(order.size() * layout_.width));
  uint8_t* out = values->mutable_data();
  for (const uint32_t ordinal : order) {
    out = std::copy_n(bytes_.data() + (ordinal * layout_.width), layout_.width, out);
  }
  return MakeArray(layout_.type, order, {std::move(validity), std::move(values)});
}

ArrayResult FlatValues::TakeBits(Order order) const {
  ARROW_ASSIGN_OR_RAISE(auto validity, TakeValidity(order));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values,
                        arrow::AllocateEmptyBitmap(static_cast<int64_t>(order.size())));
  for (size_t i = 0; i < order.size(); ++i) {
    if (bytes_[order[i]] != 0) {
      arrow::bit_util::SetBit(values->mutable_data(), static_cast<int64_t>(i));
    }
  }
  return MakeArray(layout_.type, order, {std::move(validity), std::move(values)});
}

ArrayResult FlatValues::Take(Order order) const {
  switch (layout_.shape) {
    case Shape::kBit:
      return TakeBits(order);
    case Shape::kInteger:
    case Shape::kFixed:
    case Shape::kBigEndian:
      return TakeFixed(order);
    case Shape::kBytes:
      break;
  }
  switch (layout_.type->id()) {
    case arrow::Type::STRING_VIEW:
      return TakeViews<arrow::StringViewBuilder>(order);
    case arrow::Type::BINARY_VIEW:
      return TakeViews<arrow::BinaryViewBuilder>(order);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return TakeBytes<int64_t>(order);
    default:
      return TakeBytes<int32_t>(order);
  }
}

}  // namespace infino
