#include "unit/superfile/random_arrays.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/extension/uuid.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bitmap_builders.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/decimal.h>
#include <arrow/util/float16.h>
#include <arrow/visit_type_inline.h>

#include "infino/common/random.h"
#include "support/matchers.h"

namespace infino {
namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;
using TypePtr = std::shared_ptr<arrow::DataType>;

struct Validity {
  std::shared_ptr<arrow::Buffer> bitmap;
  std::vector<bool> valid;
};

Validity RandomValidity(int64_t length, Random& random, double null_share) {
  Validity result;
  std::vector<uint8_t> bytes;
  for (int64_t i = 0; i < length; ++i) {
    const bool valid = random.Unit() >= null_share;
    result.valid.push_back(valid);
    bytes.push_back(valid ? 1 : 0);
  }
  if (null_share > 0) result.bitmap = arrow::internal::BytesToBits(bytes).ValueOrDie();
  return result;
}

std::string RandomBytes(Random& random, size_t length) {
  std::string bytes;
  for (size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(random.Below(256)));
  return bytes;
}

/// Builds flat arrays: one overload for each family of types.
class FlatMaker {
 public:
  FlatMaker(int64_t length, Random& random, double null_share)
      : length_(length), random_(&random), null_share_(null_share) {}

  template <typename Type>
    requires arrow::is_base_binary_type<Type>::value || arrow::is_binary_view_like_type<Type>::value
  arrow::Status Visit(const Type& type) {
    constexpr bool kText =
        arrow::is_string_type<Type>::value || Type::type_id == arrow::Type::STRING_VIEW;
    return Build(type, [&] {
      const size_t length = random_->Below(8) == 0 ? 0 : random_->Below(40);
      return kText ? RandomText(*random_, length / 4) : RandomBytes(*random_, length);
    });
  }

  arrow::Status Visit(const arrow::FixedSizeBinaryType& type) {
    return Build(type,
                 [&] { return RandomBytes(*random_, static_cast<size_t>(type.byte_width())); });
  }

  template <typename Type>
    requires arrow::is_decimal_type<Type>::value
  arrow::Status Visit(const Type& type) {
    using Value = typename arrow::TypeTraits<Type>::CType;
    return Build(type, [&] {
      const auto small = static_cast<int64_t>(random_->Below(200'000)) - 100'000;
      return Value(static_cast<int32_t>(small));
    });
  }

  arrow::Status Visit(const arrow::Date64Type& type) {
    constexpr int64_t kDay = 86'400'000;
    return Build(type,
                 [&] { return (static_cast<int64_t>(random_->Below(40'000)) - 9000) * kDay; });
  }

  arrow::Status Visit(const arrow::Time32Type& type) {
    return Build(type, [&] { return static_cast<int32_t>(random_->Below(86'400)); });
  }

  arrow::Status Visit(const arrow::Time64Type& type) {
    return Build(type, [&] { return static_cast<int64_t>(random_->Below(86'400'000'000)); });
  }

  arrow::Status Visit(const arrow::TimestampType& type) {
    return Build(
        type, [&] { return static_cast<int64_t>(random_->Below(8'000'000'000)) - 4'000'000'000; });
  }

  arrow::Status Visit(const arrow::BooleanType& type) {
    return Build(type, [&] { return random_->Below(2) == 0; });
  }

  arrow::Status Visit(const arrow::HalfFloatType& type) {
    return Build(
        type, [&] { return arrow::util::Float16::FromDouble(random_->Unit() * 100 - 50).bits(); });
  }

  template <typename Type>
    requires arrow::is_floating_type<Type>::value
  arrow::Status Visit(const Type& type) {
    using Value = typename Type::c_type;
    return Build(type, [&] {
      const uint64_t kind = random_->Below(20);
      if (kind == 0) return std::numeric_limits<Value>::quiet_NaN();
      if (kind == 1) return -Value{0};
      return static_cast<Value>(random_->Unit() * 2000 - 1000);
    });
  }

  template <typename Type>
    requires(arrow::has_c_type<Type>::value && !arrow::is_floating_type<Type>::value &&
             !arrow::is_interval_type<Type>::value)
  arrow::Status Visit(const Type& type) {
    using Value = typename Type::c_type;
    return Build(type, [&] { return static_cast<Value>(random_->Next()); });
  }

  arrow::Status Visit(const arrow::DataType& type) {
    return arrow::Status::NotImplemented("no random values of type ", type.ToString());
  }

  [[nodiscard]] ArrayPtr result() const { return result_; }

 private:
  template <typename Type, typename Draw>
  arrow::Status Build(const Type& type, Draw draw) {
    typename arrow::TypeTraits<Type>::BuilderType builder(type.GetSharedPtr(),
                                                          arrow::default_memory_pool());
    for (int64_t i = 0; i < length_; ++i) {
      if (random_->Unit() < null_share_) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
      } else {
        ARROW_RETURN_NOT_OK(builder.Append(draw()));
      }
    }
    return builder.Finish(&result_);
  }

  int64_t length_;
  Random* random_;
  double null_share_;
  ArrayPtr result_;
};

ArrayPtr RandomChild(const arrow::Field& field, int64_t length, Random& random, double null_share) {
  return RandomArray(field.type(), length, random, field.nullable() ? null_share : 0);
}

/// Lists of up to four values; of a null list the offsets are equal.
template <typename Offset>
ArrayPtr RandomList(const TypePtr& type, int64_t length, Random& random, double null_share) {
  const Validity validity = RandomValidity(length, random, null_share);
  arrow::TypedBufferBuilder<Offset> offsets;
  Offset end = 0;
  INFINO_EXPECT_OK(offsets.Append(end));
  for (int64_t i = 0; i < length; ++i) {
    if (validity.valid[static_cast<size_t>(i)]) end += static_cast<Offset>(random.Below(5));
    INFINO_EXPECT_OK(offsets.Append(end));
  }
  const ArrayPtr values = RandomChild(*type->field(0), end, random, null_share);
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, length, {validity.bitmap, offsets.Finish().ValueOrDie()}, {values->data()}));
}

/// Views in no order, overlapping.
template <typename Offset>
ArrayPtr RandomListView(const TypePtr& type, int64_t length, Random& random, double null_share) {
  const Validity validity = RandomValidity(length, random, null_share);
  const int64_t value_count = length + 5;
  arrow::TypedBufferBuilder<Offset> offsets;
  arrow::TypedBufferBuilder<Offset> sizes;
  for (int64_t i = 0; i < length; ++i) {
    INFINO_EXPECT_OK(
        offsets.Append(static_cast<Offset>(random.Below(static_cast<uint64_t>(length)))));
    INFINO_EXPECT_OK(sizes.Append(static_cast<Offset>(random.Below(5))));
  }
  const ArrayPtr values = RandomChild(*type->field(0), value_count, random, null_share);
  return arrow::MakeArray(arrow::ArrayData::Make(
      type, length, {validity.bitmap, offsets.Finish().ValueOrDie(), sizes.Finish().ValueOrDie()},
      {values->data()}));
}

ArrayPtr RandomStruct(const TypePtr& type, int64_t length, Random& random, double null_share) {
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const auto& field : type->fields()) {
    children.push_back(RandomChild(*field, length, random, null_share)->data());
  }
  const Validity validity = RandomValidity(length, random, null_share);
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, length, {validity.bitmap}, std::move(children)));
}

ArrayPtr RandomDictionary(const TypePtr& type, int64_t length, Random& random, double null_share) {
  const auto& dictionary_type = checked_cast<const arrow::DictionaryType&>(*type);
  constexpr int64_t kEntries = 11;
  const ArrayPtr entries = RandomArray(dictionary_type.value_type(), kEntries, random, 0);
  const ArrayPtr dictionary = arrow::compute::Unique(arrow::Datum(entries->data())).ValueOrDie();
  auto builder = arrow::MakeBuilder(dictionary_type.index_type()).ValueOrDie();
  for (int64_t i = 0; i < length; ++i) {
    if (random.Unit() < null_share) {
      INFINO_EXPECT_OK(builder->AppendNull());
      continue;
    }
    const auto index =
        static_cast<int64_t>(random.Below(static_cast<uint64_t>(dictionary->length())));
    const auto scalar = arrow::MakeScalar(dictionary_type.index_type(), index).ValueOrDie();
    INFINO_EXPECT_OK(builder->AppendScalar(*scalar));
  }
  return arrow::DictionaryArray::FromArrays(type, builder->Finish().ValueOrDie(), dictionary)
      .ValueOrDie();
}

}  // namespace

std::string RandomText(Random& random, size_t words_max) {
  constexpr size_t kWords = 9;
  static constexpr const char* kVocabulary[kWords] = {"fox",  "dog",   "Käse",  "search", "日本語",
                                                      "lazy", "brown", "naïve", "C++"};
  std::string text;
  const size_t words = random.Below(words_max + 1);
  for (size_t i = 0; i < words; ++i) {
    if (i > 0) text += ' ';
    text += kVocabulary[random.Below(kWords)];
    if (random.Below(6) == 0) text += std::to_string(random.Below(500));
  }
  return text;
}

ArrayPtr RandomArray(const TypePtr& type, int64_t length, Random& random, double null_share) {
  switch (type->id()) {
    case arrow::Type::NA:
      return std::make_shared<arrow::NullArray>(length);
    case arrow::Type::EXTENSION:
      return arrow::ExtensionType::WrapArray(
          type, RandomArray(checked_cast<const arrow::ExtensionType&>(*type).storage_type(), length,
                            random, null_share));
    case arrow::Type::STRUCT:
      return RandomStruct(type, length, random, null_share);
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return RandomList<int32_t>(type, length, random, null_share);
    case arrow::Type::LARGE_LIST:
      return RandomList<int64_t>(type, length, random, null_share);
    case arrow::Type::LIST_VIEW:
      return RandomListView<int32_t>(type, length, random, null_share);
    case arrow::Type::LARGE_LIST_VIEW:
      return RandomListView<int64_t>(type, length, random, null_share);
    case arrow::Type::FIXED_SIZE_LIST: {
      const int32_t size = checked_cast<const arrow::FixedSizeListType&>(*type).list_size();
      const ArrayPtr values = RandomChild(*type->field(0), length * size, random, null_share);
      const Validity validity = RandomValidity(length, random, null_share);
      return arrow::MakeArray(
          arrow::ArrayData::Make(type, length, {validity.bitmap}, {values->data()}));
    }
    case arrow::Type::DICTIONARY:
      return RandomDictionary(type, length, random, null_share);
    default: {
      FlatMaker maker(length, random, null_share);
      INFINO_EXPECT_OK(arrow::VisitTypeInline(*type, &maker));
      return maker.result();
    }
  }
}

std::shared_ptr<arrow::RecordBatch> RandomBatch(const std::shared_ptr<arrow::Schema>& schema,
                                                int64_t length, Random& random) {
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) {
    constexpr double kNullShare = 0.2;
    columns.push_back(RandomChild(*field, length, random, kNullShare));
  }
  return arrow::RecordBatch::Make(schema, length, std::move(columns));
}

arrow::FieldVector AllTypes() {
  using namespace arrow;  // NOLINT(google-build-using-namespace): a table of Arrow's factories
  const auto text = utf8();
  const auto pair = struct_({field("a", int32()), field("b", large_utf8())});
  const std::vector<TypePtr> types = {
      int8(),
      int16(),
      int32(),
      int64(),
      uint8(),
      uint16(),
      uint32(),
      uint64(),
      float16(),
      float32(),
      float64(),
      boolean(),
      utf8(),
      large_utf8(),
      utf8_view(),
      binary(),
      large_binary(),
      binary_view(),
      fixed_size_binary(7),
      date32(),
      date64(),
      timestamp(TimeUnit::SECOND),
      timestamp(TimeUnit::MILLI, "Europe/Berlin"),
      timestamp(TimeUnit::MICRO, "UTC"),
      timestamp(TimeUnit::NANO),
      timestamp(TimeUnit::SECOND, "UTC"),
      time32(TimeUnit::SECOND),
      time32(TimeUnit::MILLI),
      time64(TimeUnit::MICRO),
      time64(TimeUnit::NANO),
      duration(TimeUnit::SECOND),
      duration(TimeUnit::MILLI),
      duration(TimeUnit::MICRO),
      duration(TimeUnit::NANO),
      decimal32(7, 2),
      decimal64(16, 3),
      decimal128(9, 2),
      decimal128(38, 10),
      decimal256(50, 5),
      null(),
      list(int32()),
      list(field("element", text, false)),
      large_list(large_utf8()),
      list_view(int32()),
      large_list_view(text),
      fixed_size_list(float32(), 3),
      fixed_size_list(field("x", text, false), 2),
      pair,
      struct_({field("only", binary()), field("in", struct_({field("deep", float64(), false)}))}),
      map(text, int64()),
      map(large_utf8(), list(pair)),
      list(pair),
      list(list(text)),
      list(map(int32(), text)),
      large_list(struct_({field("l", list(int64())), field("d", date32())})),
      dictionary(int32(), utf8()),
      dictionary(int8(), utf8()),
      dictionary(uint16(), large_utf8()),
      dictionary(int64(), int64()),
      dictionary(int16(), float64()),
      dictionary(int8(), boolean()),
      dictionary(int8(), decimal128(9, 2)),
      dictionary(int8(), date32()),
      dictionary(int8(), fixed_size_binary(4)),
      dictionary(int8(), timestamp(TimeUnit::SECOND)),
      dictionary(int8(), binary()),
      list(dictionary(int8(), utf8())),
      struct_({field("d", dictionary(int32(), utf8()))}),
      struct_({field("f", fixed_size_list(int32(), 2)), field("n", null())}),
      list(timestamp(TimeUnit::SECOND)),
      list(utf8_view()),
      list(decimal128(20, 2)),
      struct_({field("h", float16()), field("t", time32(TimeUnit::SECOND)), field("e", date64())}),
      extension::uuid()};
  FieldVector fields;
  for (size_t i = 0; i < types.size(); ++i) {
    fields.push_back(field("c" + std::to_string(i), types[i]));
  }
  return fields;
}

}  // namespace infino
