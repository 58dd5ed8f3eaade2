#include "infino/superfile/page_header.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/bytes.h"

namespace infino {
namespace {

/// Types of fields in Thrift's compact protocol.
enum class FieldType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct Field {
  FieldType type = FieldType::kStop;
  int32_t id = 0;
};

constexpr uint32_t kDictionaryPage = 2;
constexpr uint32_t kDataPageV2 = 3;

/// Structures in structures that are passed over go no deeper than this.
constexpr int kDepthMax = 8;

/// Reads one structure after the other; the caller takes the fields that it knows and has the
/// others passed over.
class CompactReader {
 public:
  CompactReader(ByteSpan bytes, std::string_view object) : in_(bytes, object) {}

  [[nodiscard]] size_t offset() const { return in_.offset(); }

  [[nodiscard]] uint64_t remaining() const { return in_.remaining(); }

  [[nodiscard]] arrow::Status Corrupt(std::string_view what) const { return in_.Corrupt(what); }

  /// The field behind the one before, kStop at the end of the structure.
  arrow::Result<Field> Next(int32_t previous_id) {
    ARROW_ASSIGN_OR_RAISE(const uint8_t head, in_.ReadU8());
    const auto type = static_cast<FieldType>(head & 0x0F);
    if (type == FieldType::kStop) return Field();
    int64_t id = previous_id + (head >> 4);
    if (id == previous_id) {
      ARROW_ASSIGN_OR_RAISE(id, ReadSigned());
    }
    if (id <= 0 || id > std::numeric_limits<int16_t>::max()) return Corrupt("page header: field");
    return Field{.type = type, .id = static_cast<int32_t>(id)};
  }

  /// The value of an integer field that counts something.
  arrow::Result<uint32_t> ReadCount(const Field& field) {
    if (field.type != FieldType::kInt32) return Corrupt("page header: type of a field");
    ARROW_ASSIGN_OR_RAISE(const int64_t value, ReadSigned());
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
      return Corrupt("page header: number");
    }
    return static_cast<uint32_t>(value);
  }

  /// Passes over the value of a field.
  arrow::Status Skip(FieldType type, int depth = 0) {
    if (depth > kDepthMax) return Corrupt("page header: nested too deep");
    switch (type) {
      case FieldType::kTrue:
      case FieldType::kFalse:
        return arrow::Status::OK();
      case FieldType::kByte:
        return in_.ReadU8().status();
      case FieldType::kInt16:
      case FieldType::kInt32:
      case FieldType::kInt64:
        return in_.ReadVarint().status();
      case FieldType::kDouble:
        return in_.ReadU64().status();
      case FieldType::kBinary:
        return in_.ReadString().status();
      case FieldType::kStruct:
        return SkipStruct(depth);
      default:
        // Headers of these pages have neither lists nor maps.
        return Corrupt("page header: type of a field");
    }
  }

 private:
  arrow::Result<int64_t> ReadSigned() {
    ARROW_ASSIGN_OR_RAISE(const uint64_t raw, in_.ReadVarint());
    return static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
  }

  arrow::Status SkipStruct(int depth) {
    Field field;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(field, Next(field.id));
      if (field.type == FieldType::kStop) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(Skip(field.type, depth + 1));
    }
  }

  ByteReader in_;
};

/// Where the number of a field of a structure goes; null for a field that is of no interest.
uint32_t* TargetInDictionaryHeader(int32_t id, PageHeader& header, uint32_t& encoding) {
  switch (id) {
    case 1:
      return &header.value_count;
    case 2:
      return &encoding;
    default:
      return nullptr;
  }
}

uint32_t* TargetInDataHeader(int32_t id, PageHeader& header, uint32_t& encoding) {
  switch (id) {
    case 1:
      return &header.value_count;
    case 2:
      return &header.null_count;
    case 3:
      return &header.row_count;
    case 4:
      return &encoding;
    case 5:
      return &header.definition_length;
    case 6:
      return &header.repetition_length;
    default:
      return nullptr;
  }
}

/// The structure in the header that belongs to the kind of page.
arrow::Status ReadKind(CompactReader& in, PageHeader& header) {
  constexpr int32_t kIsCompressed = 7;
  uint32_t encoding = 0;
  Field field;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(field, in.Next(field.id));
    if (field.type == FieldType::kStop) break;
    uint32_t* const target = header.is_dictionary
                                 ? TargetInDictionaryHeader(field.id, header, encoding)
                                 : TargetInDataHeader(field.id, header, encoding);
    if (target != nullptr) {
      ARROW_ASSIGN_OR_RAISE(*target, in.ReadCount(field));
    } else {
      if (!header.is_dictionary && field.id == kIsCompressed) {
        header.compressed = field.type != FieldType::kFalse;
      }
      ARROW_RETURN_NOT_OK(in.Skip(field.type));
    }
  }
  header.encoding = static_cast<int32_t>(encoding);
  return arrow::Status::OK();
}

arrow::Status CheckLengths(const CompactReader& in, const PageHeader& header) {
  if (header.compressed_length != in.remaining()) return in.Corrupt("page header: length");
  const uint64_t levels = uint64_t{header.definition_length} + header.repetition_length;
  if (levels > header.compressed_length || levels > header.plain_length) {
    return in.Corrupt("page header: length of the levels");
  }
  const bool plain = !header.compressed;
  if (plain && header.compressed_length != header.plain_length) {
    return in.Corrupt("page header: decompressed length");
  }
  if (header.null_count > header.value_count) return in.Corrupt("page header: null count");
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<PageHeader> ParsePageHeader(ByteSpan page, std::string_view object) {
  constexpr int32_t kType = 1;
  constexpr int32_t kPlainLength = 2;
  constexpr int32_t kCompressedLength = 3;
  constexpr int32_t kDictionaryHeader = 7;
  constexpr int32_t kDataHeaderV2 = 8;
  CompactReader in(page, object);
  PageHeader header;
  uint32_t type = 0;
  bool has_kind = false;
  Field field;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(field, in.Next(field.id));
    if (field.type == FieldType::kStop) break;
    const bool is_kind = field.type == FieldType::kStruct &&
                         (field.id == kDictionaryHeader || field.id == kDataHeaderV2);
    if (field.id == kType) {
      ARROW_ASSIGN_OR_RAISE(type, in.ReadCount(field));
    } else if (field.id == kPlainLength) {
      ARROW_ASSIGN_OR_RAISE(header.plain_length, in.ReadCount(field));
    } else if (field.id == kCompressedLength) {
      ARROW_ASSIGN_OR_RAISE(header.compressed_length, in.ReadCount(field));
    } else if (is_kind && !has_kind) {
      header.is_dictionary = field.id == kDictionaryHeader;
      has_kind = true;
      ARROW_RETURN_NOT_OK(ReadKind(in, header));
    } else {
      ARROW_RETURN_NOT_OK(in.Skip(field.type));
    }
  }
  if (!has_kind || type != (header.is_dictionary ? kDictionaryPage : kDataPageV2)) {
    return in.Corrupt("page header: kind of page");
  }
  header.header_length = in.offset();
  ARROW_RETURN_NOT_OK(CheckLengths(in, header));
  return header;
}

}  // namespace infino
