#include "infino/manifest/arrow_object.h"

#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <arrow/array/array_base.h>
#include <arrow/array/array_nested.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"

namespace infino {
namespace {

constexpr std::string_view kKindKey = "inf.kind";
constexpr std::string_view kFormatKey = "inf.format_version";
constexpr std::string_view kCommitKey = "inf.commit";

/// Arrow takes the end of the input for the end of the stream, too.
bool HasEndMark(const arrow::Buffer& bytes) {
  constexpr uint64_t kEndMark = 0xFFFFFFFF;
  constexpr int64_t kEndMarkBytes = 8;
  return bytes.size() >= kEndMarkBytes &&
         LoadU64(bytes.data() + bytes.size() - kEndMarkBytes) == kEndMark;
}

struct ReadBatch {
  CommitId commit;
  std::shared_ptr<arrow::RecordBatch> batch;
};

arrow::Result<ReadBatch> Read(const arrow::Buffer& bytes, std::string_view kind,
                              std::string_view object, arrow::MemoryPool* pool) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.memory_pool = pool;
  const auto input = std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(bytes.data(), bytes.size()));
  ARROW_ASSIGN_OR_RAISE(const auto stream,
                        arrow::ipc::RecordBatchStreamReader::Open(input, options));
  ReadBatch read;
  ARROW_ASSIGN_OR_RAISE(read.commit,
                        ReadArrowObjectMetadata(stream->schema()->metadata().get(), kind, object));
  ARROW_ASSIGN_OR_RAISE(read.batch, stream->Next());
  if (read.batch == nullptr) return CorruptObject(object, "no record batch");
  ARROW_ASSIGN_OR_RAISE(const auto rest, stream->Next());
  ARROW_ASSIGN_OR_RAISE(const int64_t end, input->Tell());
  if (rest != nullptr || end != bytes.size() || !HasEndMark(bytes)) {
    return CorruptObject(object, "the stream does not end behind its record batch");
  }
  ARROW_RETURN_NOT_OK(read.batch->ValidateFull());
  return read;
}

arrow::Status CheckNoNullsIn(const arrow::Array& array, const arrow::Field& field,
                             std::string_view object) {
  if (!field.nullable() && array.null_count() != 0) {
    return CorruptObject(object, "null in column " + field.name());
  }
  if (array.type_id() == arrow::Type::LIST) {
    const auto& values = static_cast<const arrow::ListArray&>(array).values();
    return CheckNoNullsIn(*values, *array.type()->field(0), object);
  }
  if (array.type_id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& values = static_cast<const arrow::FixedSizeListArray&>(array).values();
    return CheckNoNullsIn(*values, *array.type()->field(0), object);
  }
  if (array.type_id() == arrow::Type::STRUCT) {
    const auto& items = static_cast<const arrow::StructArray&>(array);
    if (items.null_count() != 0) return arrow::Status::OK();
    for (int i = 0; i < items.num_fields(); ++i) {
      ARROW_RETURN_NOT_OK(CheckNoNullsIn(*items.field(i), *array.type()->field(i), object));
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status ReadArrowObject(const arrow::Buffer& bytes, std::string_view kind,
                              std::string_view object, int64_t memory_max,
                              const ArrowObjectVisitor& visit) {
  // A corrupt length of a compressed buffer must not make us allocate at will.
  arrow::ProxyMemoryPool counted(arrow::default_memory_pool());
  arrow::CappedMemoryPool capped(&counted, memory_max);
  const auto read = Read(bytes, kind, object, &capped);
  const arrow::Status status = read.ok() ? visit(read->commit, *read->batch) : read.status();
  if (status.ok() || KindOf(status).has_value()) return status;
  return CorruptObject(object, "not a readable Arrow stream: " + status.message());
}

arrow::Status CheckNoNulls(const arrow::RecordBatch& batch, std::string_view object) {
  for (int i = 0; i < batch.num_columns(); ++i) {
    ARROW_RETURN_NOT_OK(CheckNoNullsIn(*batch.column(i), *batch.schema()->field(i), object));
  }
  return arrow::Status::OK();
}

std::shared_ptr<const arrow::KeyValueMetadata> ArrowObjectMetadata(std::string_view kind,
                                                                   const CommitId& commit) {
  return arrow::key_value_metadata(
      {std::string(kKindKey), std::string(kFormatKey), std::string(kCommitKey)},
      {std::string(kind), std::to_string(kTableFormatVersion), commit.ToHex()});
}

arrow::Result<CommitId> ReadArrowObjectMetadata(const arrow::KeyValueMetadata* metadata,
                                                std::string_view kind, std::string_view object) {
  if (metadata == nullptr) return CorruptObject(object, "no schema metadata");
  const auto found_kind = metadata->Get(kKindKey);
  if (!found_kind.ok() || *found_kind != kind) {
    return CorruptObject(object, "not a " + std::string(kind));
  }
  const auto format_text = metadata->Get(kFormatKey);
  uint64_t format = 0;
  if (!format_text.ok()) return CorruptObject(object, "no format version");
  const char* end = format_text->data() + format_text->size();
  const auto parsed = std::from_chars(format_text->data(), end, format);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return CorruptObject(object, "bad format version");
  }
  if (format > kTableFormatVersion) {
    return MakeError(ErrorKind::kUnsupportedVersion,
                     std::string(object) + ": written by a newer infino: format_version=" +
                         *format_text + " supported=" + std::to_string(kTableFormatVersion));
  }
  const auto commit_text = metadata->Get(kCommitKey);
  const auto commit = CommitId::FromHex(commit_text.ok() ? *commit_text : "");
  if (!commit.ok()) return CorruptObject(object, "bad commit id");
  return *commit;
}

}  // namespace infino
