#include "infino/superfile/page_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type_traits.h>
#include <arrow/util/utf8.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_pages.h"
#include "infino/superfile/page_body.h"
#include "infino/superfile/page_encodings.h"
#include "infino/superfile/page_header.h"

namespace infino {
namespace {

using Form = PageValues::Form;
using Shape = FlatLayout::Shape;

constexpr char kPage[] = "page";
constexpr uint32_t kByteBits = 8;

bool IsEncoding(const PageHeader& header, PageEncoding encoding) {
  return header.encoding == static_cast<int32_t>(encoding);
}

Form FormOf(Shape shape) {
  switch (shape) {
    case Shape::kBit:
    case Shape::kInteger:
      return Form::kNumbers;
    case Shape::kFixed:
    case Shape::kBigEndian:
      return Form::kFixed;
    case Shape::kBytes:
      break;
  }
  return Form::kBytes;
}

/// Moves values that stand one behind the other to the rows that have one.
template <typename T>
void SpreadOver(const std::vector<uint8_t>& valid, std::vector<T>& values) {
  size_t left = values.size();
  values.resize(valid.size());
  for (size_t row = valid.size(); row-- > 0;) {
    values[row] = valid[row] != 0 ? values[--left] : T{};
  }
}

uint64_t LoadNumber(const uint8_t* at, size_t width) {
  return width == sizeof(uint32_t) ? LoadU32(at) : LoadU64(at);
}

void LoadNumbers(ByteSpan stored, size_t width, std::vector<uint64_t>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = LoadNumber(stored.data() + (i * width), width);
  }
}

/// Whether bytes begin in the middle of a character.
bool IsContinuation(uint8_t byte) {
  constexpr uint8_t kMarkBits = 0xC0;
  constexpr uint8_t kMark = 0x80;
  return (byte & kMarkBits) == kMark;
}

}  // namespace

PageValuesReader::PageValuesReader(const FlatLayout& layout, Compression compression)
    : layout_(layout), compression_(compression) {
  const arrow::Type::type id = layout.type->id();
  is_text_ = arrow::is_string(id) || id == arrow::Type::STRING_VIEW;
  arrow::util::InitializeUTF8();
}

arrow::Status PageValuesReader::Read(const std::shared_ptr<arrow::Buffer>& page, uint32_t row_count,
                                     const PageDictionary* dictionary, PageValues& values) {
  const ByteSpan bytes(page->data(), static_cast<size_t>(page->size()));
  ARROW_ASSIGN_OR_RAISE(const PageBody body, ParsePageBody(bytes, row_count, layout_.nullable));
  values.row_count = row_count;
  values.valid.clear();
  values.owner = nullptr;
  value_count_ = body.value_count();
  if (body.header.null_count > 0) {
    ARROW_RETURN_NOT_OK(ReadLevels(body, small_numbers_));
    values.valid.resize(row_count);
    std::ranges::transform(small_numbers_, values.valid.begin(),
                           [](uint32_t level) { return static_cast<uint8_t>(level); });
  }
  if (value_count_ == 0) {
    values.form = FormOf(layout_.shape);
    values.numbers.clear();
    values.bytes.clear();
    values.fixed = {};
  } else {
    ARROW_RETURN_NOT_OK(ReadStored(body, page, dictionary, values));
  }
  return values.valid.empty() ? arrow::Status::OK() : Spread(values);
}

arrow::Status PageValuesReader::ReadStored(const PageBody& body,
                                           const std::shared_ptr<arrow::Buffer>& page,
                                           const PageDictionary* dictionary, PageValues& values) {
  ByteSpan plain = body.stored;
  if (body.IsCompressed(compression_)) {
    // Each page has memory of its own, since values may outlive the next one's.
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> inflated,
                          arrow::AllocateResizableBuffer(0));
    ARROW_ASSIGN_OR_RAISE(plain, InflateBody(body, compression_, *inflated));
    values.owner = std::move(inflated);
  } else {
    values.owner = page;
  }
  ByteReader in(plain, kPage);
  const PageHeader& header = body.header;
  const Shape shape = layout_.shape;
  values.form = FormOf(shape);
  if (IsEncoding(header, PageEncoding::kPlain)) return ReadPlain(in, values);
  if (IsEncoding(header, PageEncoding::kDeltaLengthByteArray) && shape == Shape::kBytes) {
    return ReadDeltaLengths(in, values);
  }
  if (IsEncoding(header, PageEncoding::kDeltaBinaryPacked) && shape == Shape::kInteger) {
    return ReadDeltas(in, values);
  }
  if (IsEncoding(header, PageEncoding::kRle) && shape == Shape::kBit) return ReadBits(in, values);
  if (IsEncoding(header, PageEncoding::kRleDictionary) ||
      IsEncoding(header, PageEncoding::kPlainDictionary)) {
    values.form = Form::kIndices;
    return ReadIndices(in, dictionary, values);
  }
  return in.Corrupt("page: encoding");
}

arrow::Status PageValuesReader::ReadPlain(ByteReader& in, PageValues& values) const {
  if (layout_.shape == Shape::kBytes) {
    values.bytes.resize(value_count_);
    for (ByteSpan& value : values.bytes) {
      ARROW_ASSIGN_OR_RAISE(const uint32_t length, in.ReadU32());
      ARROW_ASSIGN_OR_RAISE(value, in.ReadBytes(length));
    }
    return CheckTexts(in, values.bytes);
  }
  if (layout_.shape == Shape::kBit) {
    ARROW_ASSIGN_OR_RAISE(const ByteSpan bits, in.ReadBytes(PackedArrayBytes(value_count_, 1)));
    values.numbers.resize(value_count_);
    for (size_t i = 0; i < value_count_; ++i) {
      values.numbers[i] = (bits[i / kByteBits] >> (i % kByteBits)) & 1;
    }
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(values.fixed, in.ReadBytes(value_count_ * layout_.stored_width));
  if (values.form == Form::kNumbers) {
    values.numbers.resize(value_count_);
    LoadNumbers(values.fixed, layout_.stored_width, values.numbers);
  }
  return arrow::Status::OK();
}

arrow::Status PageValuesReader::ReadDeltas(ByteReader& in, PageValues& values) const {
  return infino::ReadDeltas(in, value_count_, value_count_, values.numbers);
}

arrow::Status PageValuesReader::ReadDeltaLengths(ByteReader& in, PageValues& values) {
  ARROW_RETURN_NOT_OK(infino::ReadDeltas(in, value_count_, value_count_, wide_numbers_));
  ARROW_ASSIGN_OR_RAISE(ByteSpan rest, in.ReadBytes(in.remaining()));
  values.bytes.resize(value_count_);
  for (size_t i = 0; i < value_count_; ++i) {
    // Lengths are 32-bit numbers, so only the lower half of a sum counts.
    const size_t length = static_cast<uint32_t>(wide_numbers_[i]);
    if (length > rest.size()) return in.Corrupt("page: length of a value");
    values.bytes[i] = rest.first(length);
    rest = rest.subspan(length);
  }
  return CheckTexts(in, values.bytes);
}

arrow::Status PageValuesReader::ReadBits(ByteReader& in, PageValues& values) {
  ARROW_ASSIGN_OR_RAISE(const uint32_t length, in.ReadU32());
  ARROW_ASSIGN_OR_RAISE(const ByteSpan runs, in.ReadBytes(length));
  ByteReader run_reader(runs, kPage);
  ARROW_RETURN_NOT_OK(ReadRuns(run_reader, /*width=*/1, value_count_, small_numbers_));
  values.numbers.assign(small_numbers_.begin(), small_numbers_.end());
  return arrow::Status::OK();
}

arrow::Status PageValuesReader::ReadIndices(ByteReader& in, const PageDictionary* dictionary,
                                            PageValues& values) const {
  if (dictionary == nullptr) return in.Corrupt("page: there is no dictionary");
  ARROW_ASSIGN_OR_RAISE(const uint8_t width, in.ReadU8());
  if (width > kPackedWidthMax) return in.Corrupt("page: width of dictionary indices");
  ARROW_RETURN_NOT_OK(ReadRuns(in, width, value_count_, values.indices));
  uint32_t greatest = 0;
  for (const uint32_t index : values.indices) greatest = std::max(greatest, index);
  if (greatest >= dictionary->size()) return in.Corrupt("page: dictionary index");
  return arrow::Status::OK();
}

arrow::Status PageValuesReader::Spread(PageValues& values) const {
  switch (values.form) {
    case Form::kNumbers:
      SpreadOver(values.valid, values.numbers);
      break;
    case Form::kBytes:
      SpreadOver(values.valid, values.bytes);
      break;
    case Form::kIndices:
      SpreadOver(values.valid, values.indices);
      break;
    case Form::kFixed: {
      const size_t width = layout_.stored_width;
      ARROW_ASSIGN_OR_RAISE(
          std::shared_ptr<arrow::Buffer> spread,
          arrow::AllocateBuffer(static_cast<int64_t>(values.valid.size() * width)));
      uint8_t* out = spread->mutable_data();
      const uint8_t* from = values.fixed.data();
      for (const uint8_t valid : values.valid) {
        if (valid != 0) {
          out = std::copy_n(from, width, out);
          from += width;
        } else {
          out = std::fill_n(out, width, uint8_t{0});
        }
      }
      values.fixed = {spread->data(), static_cast<size_t>(spread->size())};
      values.owner = std::move(spread);
      break;
    }
  }
  return arrow::Status::OK();
}

arrow::Status PageValuesReader::CheckTexts(ByteReader& in,
                                           const std::vector<ByteSpan>& texts) const {
  if (!is_text_ || texts.empty()) return arrow::Status::OK();
  // Texts one behind the other are each UTF-8 if all together are and each begins with a character.
  auto begin = texts.begin();
  while (begin != texts.end()) {
    const uint8_t* const first = begin->data();
    const uint8_t* last = first;
    auto end = begin;
    for (; end != texts.end() && (end->data() == last || end->empty()); ++end) {
      if (!end->empty() && IsContinuation(end->front())) return in.Corrupt("page: text");
      last += end->size();
    }
    if (!arrow::util::ValidateUTF8(first, last - first)) return in.Corrupt("page: text");
    begin = end;
  }
  return arrow::Status::OK();
}

arrow::Result<PageValues> PageValuesReader::Read(const PageDictionary& dictionary) const {
  PageValues values;
  values.form = FormOf(layout_.shape);
  values.row_count = static_cast<uint32_t>(dictionary.size());
  if (values.form == Form::kBytes) {
    values.bytes.reserve(dictionary.size());
    for (size_t i = 0; i < dictionary.size(); ++i) values.bytes.push_back(dictionary[i]);
    ByteReader in({}, kPage);
    ARROW_RETURN_NOT_OK(CheckTexts(in, values.bytes));
    return values;
  }
  if (dictionary.size() > 0) {
    // Values of a fixed width stand one behind the other.
    values.fixed = {dictionary[0].data(), dictionary.size() * layout_.stored_width};
  }
  if (values.form == Form::kNumbers) {
    values.numbers.resize(dictionary.size());
    LoadNumbers(values.fixed, layout_.stored_width, values.numbers);
  }
  return values;
}

}  // namespace infino
