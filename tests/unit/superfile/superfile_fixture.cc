#include "unit/superfile/superfile_fixture.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/compare.h>
#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/superfile/conform.h"
#include "infino/superfile/row_fetch.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/superfile/table_schema.h"

namespace infino {

TableSchema SchemaOf(const arrow::FieldVector& fields) {
  TableSchema schema;
  for (const auto& field : fields) {
    TableColumn column{.field_id = ++schema.last_field_id, .field = field, .text = {}};
    if (field->name() == "text") column.text = TextIndexOptions();
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

arrow::Result<BuiltSuperfile> BuildFrom(
    const TableSchema& schema, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
    Compression compression) {
  SuperfileWriterOptions options{.id = {}, .compression = compression};
  options.id.bytes.fill(0x5A);
  ARROW_ASSIGN_OR_RAISE(auto writer, SuperfileWriter::Make(schema, options));
  RowId id = kFirstId;
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(writer->Add(*batch, id));
    id = id.Plus(static_cast<uint64_t>(batch->num_rows()));
  }
  return writer->Finish();
}

arrow::Result<std::shared_ptr<const SuperfileReader>> OpenBuilt(const BuiltSuperfile& built) {
  const ByteRange& place = built.summary.open_section;
  return SuperfileReader::Open(std::make_shared<BufferRangeReader>(built.bytes, "test file"), place,
                               arrow::SliceBuffer(built.bytes, place.offset, place.length),
                               built.summary.id);
}

arrow::Result<std::shared_ptr<const SuperfileReader>> OpenAlone(
    std::shared_ptr<arrow::Buffer> bytes) {
  auto file = std::make_shared<BufferRangeReader>(bytes, "test file");
  ARROW_ASSIGN_OR_RAISE(const OpenSectionPlace open, FindOpenSection(*file, "test file"));
  return SuperfileReader::Open(
      file, open.place, arrow::SliceBuffer(bytes, open.place.offset, open.place.length), open.id);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FetchRows(const SuperfileReader& superfile,
                                                             const std::vector<DocId>& docs,
                                                             const std::vector<int32_t>& field_ids,
                                                             int* rounds) {
  ARROW_ASSIGN_OR_RAISE(auto fetch, RowFetch::Make(superfile, docs, field_ids));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(std::vector<ByteRange> reads, fetch->NextReads());
    if (reads.empty()) return fetch->Rows();
    if (rounds != nullptr) ++*rounds;
    ARROW_ASSIGN_OR_RAISE(Buffers bytes, Wait(superfile.file().Read(std::move(reads))));
    ARROW_RETURN_NOT_OK(fetch->Feed(std::move(bytes)));
  }
}

arrow::Result<std::shared_ptr<arrow::Table>> ReadParquet(
    const std::shared_ptr<arrow::Buffer>& bytes) {
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        parquet::arrow::OpenFile(std::make_shared<arrow::io::BufferReader>(bytes),
                                                 arrow::default_memory_pool()));
  return reader->ReadTable();
}

std::shared_ptr<arrow::Array> TakeRows(const arrow::ArrayVector& chunks,
                                       const std::vector<DocId>& docs) {
  arrow::ArrayVector slices = {chunks.front()->Slice(0, 0)};
  for (const DocId doc : docs) {
    int64_t row = doc;
    for (const auto& chunk : chunks) {
      if (row < chunk->length()) {
        slices.push_back(chunk->Slice(row, 1));
        break;
      }
      row -= chunk->length();
    }
  }
  return arrow::Concatenate(slices).ValueOrDie();
}

namespace {

/// `type` with the values of its dictionaries in place of them.
std::shared_ptr<arrow::DataType> Plain(const std::shared_ptr<arrow::DataType>& type) {
  const auto child = [&](int i) { return type->field(i)->WithType(Plain(type->field(i)->type())); };
  switch (type->id()) {
    case arrow::Type::DICTIONARY:
      return dynamic_cast<const arrow::DictionaryType&>(*type).value_type();
    case arrow::Type::LIST:
      return arrow::list(child(0));
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      for (int i = 0; i < type->num_fields(); ++i) fields.push_back(child(i));
      return arrow::struct_(std::move(fields));
    }
    default:
      return type;
  }
}

}  // namespace

bool SameValues(const std::shared_ptr<arrow::Array>& a, const std::shared_ptr<arrow::Array>& b) {
  if (!a->type()->Equals(*b->type())) return false;
  const auto plain = Plain(a->type());
  return arrow::ArrayEquals(*Conform(a, plain).ValueOrDie(), *Conform(b, plain).ValueOrDie(),
                            arrow::EqualOptions::Defaults().nans_equal(true));
}

std::vector<DocId> RandomDocs(Random& random, size_t count, int64_t row_count) {
  std::vector<DocId> docs;
  for (size_t i = 0; i < count; ++i) {
    const bool again = !docs.empty() && random.Below(10) == 0;
    docs.push_back(again ? docs[random.Below(docs.size())]
                         : static_cast<DocId>(random.Below(static_cast<uint64_t>(row_count))));
  }
  return docs;
}

}  // namespace infino
