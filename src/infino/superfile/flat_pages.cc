#include "infino/superfile/flat_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/codec/bit_packing.h"
#include "infino/common/bytes.h"
#include "infino/options.h"
#include "infino/superfile/flat_layout.h"
#include "infino/superfile/flat_values.h"
#include "infino/superfile/page_body.h"
#include "infino/superfile/page_encodings.h"
#include "infino/superfile/page_header.h"

namespace infino {
namespace {

using Shape = FlatLayout::Shape;

constexpr char kPage[] = "page";
constexpr uint32_t kNull = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kByteBits = 8;

bool IsEncoding(const PageHeader& header, PageEncoding encoding) {
  return header.encoding == static_cast<int32_t>(encoding);
}

}  // namespace

arrow::Result<std::shared_ptr<const PageDictionary>> PageDictionary::Read(const FlatLayout& layout,
                                                                          Compression compression,
                                                                          ByteSpan page) {
  ARROW_ASSIGN_OR_RAISE(const PageHeader header, ParsePageHeader(page, kPage));
  ByteReader in(page, kPage);
  ARROW_RETURN_NOT_OK(in.Seek(header.header_length));
  if (!header.is_dictionary || layout.shape == Shape::kBit ||
      !(IsEncoding(header, PageEncoding::kPlain) ||
        IsEncoding(header, PageEncoding::kPlainDictionary))) {
    return in.Corrupt("dictionary page: kind or encoding");
  }
  ARROW_ASSIGN_OR_RAISE(const ByteSpan compressed, in.ReadBytes(header.compressed_length));
  ARROW_RETURN_NOT_OK(CheckPlainLength(in, compression, compressed.size(), header.plain_length));
  auto dictionary = std::make_shared<PageDictionary>();
  dictionary->width_ = layout.stored_width;
  dictionary->bytes_.resize(header.plain_length);
  ARROW_RETURN_NOT_OK(InflateChecked(in, compression, compressed, dictionary->bytes_));
  const size_t least = layout.stored_width == 0 ? sizeof(uint32_t) : layout.stored_width;
  if (header.value_count > header.plain_length / least) {
    return in.Corrupt("dictionary page: value count");
  }
  ByteReader values(dictionary->bytes_, kPage);
  dictionary->starts_.reserve(header.value_count);
  for (uint32_t i = 0; i < header.value_count; ++i) {
    dictionary->starts_.push_back(static_cast<uint32_t>(values.offset()));
    uint64_t length = layout.stored_width;
    if (length == 0) {
      ARROW_ASSIGN_OR_RAISE(length, values.ReadU32());
    }
    ARROW_RETURN_NOT_OK(values.ReadBytes(length).status());
  }
  return dictionary;
}

ByteSpan PageDictionary::operator[](size_t ordinal) const {
  const ByteSpan rest = ByteSpan(bytes_).subspan(starts_[ordinal]);
  if (width_ != 0) return rest.first(width_);
  return rest.subspan(sizeof(uint32_t), LoadU32(rest.data()));
}

int64_t PageDictionary::memory_bytes() const {
  return static_cast<int64_t>(sizeof(PageDictionary) + bytes_.capacity() +
                              (starts_.capacity() * sizeof(uint32_t)));
}

arrow::Status FlatPageReader::Append(ByteSpan page, uint32_t row_count,
                                     std::span<const uint32_t> rows,
                                     const PageDictionary* dictionary, FlatValues& values) {
  ARROW_ASSIGN_OR_RAISE(const PageBody body, ParsePageBody(page, row_count, layout_.nullable));
  ARROW_RETURN_NOT_OK(FindValues(body, rows));
  if (needed_count_ == 0) {
    for (size_t i = 0; i < rows.size(); ++i) values.AppendNull();
    return arrow::Status::OK();
  }
  const PageHeader& header = body.header;
  ARROW_ASSIGN_OR_RAISE(const ByteSpan plain, Inflated(body));
  ByteReader stored(plain, kPage);
  const Shape shape = layout_.shape;
  if (IsEncoding(header, PageEncoding::kPlain)) {
    return shape == Shape::kBytes ? AppendPlainBytes(stored, values) : AppendPlain(stored, values);
  }
  if (IsEncoding(header, PageEncoding::kDeltaLengthByteArray) && shape == Shape::kBytes) {
    return AppendDeltaLengths(stored, values);
  }
  if (IsEncoding(header, PageEncoding::kDeltaBinaryPacked) && shape == Shape::kInteger) {
    return AppendDeltas(stored, values);
  }
  if (IsEncoding(header, PageEncoding::kRle) && shape == Shape::kBit) {
    return AppendRuns(stored, values);
  }
  if (IsEncoding(header, PageEncoding::kRleDictionary) ||
      IsEncoding(header, PageEncoding::kPlainDictionary)) {
    return AppendIndexed(stored, dictionary, values);
  }
  return stored.Corrupt("page: encoding");
}

arrow::Status FlatPageReader::FindValues(const PageBody& body, std::span<const uint32_t> rows) {
  ordinals_.clear();
  value_count_ = body.value_count();
  needed_count_ = 0;
  if (body.header.null_count == 0) {
    ordinals_.assign(rows.begin(), rows.end());
    if (!rows.empty()) needed_count_ = size_t{rows.back()} + 1;
    return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(ReadLevels(body, numbers_));
  uint32_t found = 0;
  auto row = rows.begin();
  for (uint32_t i = 0; i < body.header.value_count; ++i) {
    const bool valid = numbers_[i] != 0;
    if (row != rows.end() && *row == i) {
      ordinals_.push_back(valid ? found : kNull);
      if (valid) needed_count_ = size_t{found} + 1;
      ++row;
    }
    found += valid ? 1 : 0;
  }
  return arrow::Status::OK();
}

arrow::Result<ByteSpan> FlatPageReader::Inflated(const PageBody& body) {
  if (!body.IsCompressed(compression_)) return body.stored;
  if (inflated_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(inflated_, arrow::AllocateResizableBuffer(0));
  }
  return InflateBody(body, compression_, *inflated_);
}

arrow::Status FlatPageReader::AppendPlain(ByteReader& in, FlatValues& values) const {
  const bool bits = layout_.shape == Shape::kBit;
  const size_t expected =
      bits ? PackedArrayBytes(value_count_, 1) : value_count_ * layout_.stored_width;
  ARROW_ASSIGN_OR_RAISE(const ByteSpan all, in.ReadBytes(expected));
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
    } else if (bits) {
      values.AppendBit(((all[ordinal / kByteBits] >> (ordinal % kByteBits)) & 1) != 0);
    } else {
      values.Append(all.subspan(ordinal * layout_.stored_width, layout_.stored_width));
    }
  }
  return arrow::Status::OK();
}

arrow::Status FlatPageReader::AppendPlainBytes(ByteReader& in, FlatValues& values) const {
  ByteSpan value;
  size_t read = 0;
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
      continue;
    }
    for (; read <= ordinal; ++read) {
      ARROW_ASSIGN_OR_RAISE(const uint32_t length, in.ReadU32());
      ARROW_ASSIGN_OR_RAISE(value, in.ReadBytes(length));
    }
    values.Append(value);
  }
  return arrow::Status::OK();
}

arrow::Status FlatPageReader::AppendDeltas(ByteReader& in, FlatValues& values) {
  ARROW_RETURN_NOT_OK(ReadDeltas(in, value_count_, needed_count_, wide_numbers_));
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
    } else {
      values.AppendInteger(wide_numbers_[ordinal]);
    }
  }
  return arrow::Status::OK();
}

arrow::Status FlatPageReader::AppendDeltaLengths(ByteReader& in, FlatValues& values) {
  ARROW_RETURN_NOT_OK(ReadDeltas(in, value_count_, value_count_, wide_numbers_));
  size_t read = 0;
  ByteSpan value;
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
      continue;
    }
    for (; read <= ordinal; ++read) {
      // Lengths are 32-bit numbers, so only the lower half of a sum counts.
      ARROW_ASSIGN_OR_RAISE(value, in.ReadBytes(static_cast<uint32_t>(wide_numbers_[read])));
    }
    values.Append(value);
  }
  return arrow::Status::OK();
}

arrow::Status FlatPageReader::AppendRuns(ByteReader& in, FlatValues& values) {
  ARROW_ASSIGN_OR_RAISE(const uint32_t length, in.ReadU32());
  ARROW_ASSIGN_OR_RAISE(const ByteSpan runs, in.ReadBytes(length));
  ByteReader run_reader(runs, kPage);
  ARROW_RETURN_NOT_OK(ReadRuns(run_reader, /*width=*/1, needed_count_, numbers_));
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
    } else {
      values.AppendBit(numbers_[ordinal] != 0);
    }
  }
  return arrow::Status::OK();
}

arrow::Status FlatPageReader::AppendIndexed(ByteReader& in, const PageDictionary* dictionary,
                                            FlatValues& values) {
  if (dictionary == nullptr) return in.Corrupt("page: there is no dictionary");
  ARROW_ASSIGN_OR_RAISE(const uint8_t width, in.ReadU8());
  if (width > kPackedWidthMax) return in.Corrupt("page: width of dictionary indices");
  ARROW_RETURN_NOT_OK(ReadRuns(in, width, needed_count_, numbers_));
  for (const uint32_t ordinal : ordinals_) {
    if (ordinal == kNull) {
      values.AppendNull();
      continue;
    }
    if (numbers_[ordinal] >= dictionary->size()) return in.Corrupt("page: dictionary index");
    values.Append((*dictionary)[numbers_[ordinal]]);
  }
  return arrow::Status::OK();
}

}  // namespace infino
