#include "unit/commit/table_harness.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "infino/codec/row_bitmap.h"
#include "infino/commit/table_writer.h"
#include "infino/common/buffer_range_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/common/content_hash.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/tombstones_codec.h"
#include "infino/query/query_environment.h"
#include "infino/query/superfile_cache.h"
#include "infino/query/tombstones.h"
#include "infino/storage/block_cache.h"
#include "infino/storage/object_store.h"
#include "infino/superfile/row_fetch.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/pointer.h"
#include "infino/supertable/snapshot.h"
#include "support/row_predicates.h"

namespace infino {
namespace {

constexpr int32_t kRowFieldId = 1;

arrow::Status Broken(const std::string& path, const std::string& what) {
  return MakeError(ErrorKind::kCorrupt, path + ": " + what);
}

arrow::Status AddRows(ObjectStore& store, const std::string& folder, const SuperfileEntry& entry,
                      std::vector<StoredRow>* rows) {
  const std::string path = SuperfilePath(folder, entry.id);
  ARROW_ASSIGN_OR_RAISE(const VersionedBytes object, Wait(store.Get(path)));
  const ByteSpan bytes(object.bytes->data(), static_cast<size_t>(object.bytes->size()));
  if (object.bytes->size() != entry.size_bytes) return Broken(path, "wrong size");
  if (Blake3(bytes) != entry.hash) return Broken(path, "wrong hash");
  const auto file = std::make_shared<BufferRangeReader>(object.bytes, path);
  ARROW_ASSIGN_OR_RAISE(
      const auto reader,
      SuperfileReader::Open(
          file, entry.open_section,
          arrow::SliceBuffer(object.bytes, entry.open_section.offset, entry.open_section.length),
          entry.id));
  ARROW_RETURN_NOT_OK(VerifySuperfile(*reader));
  if (reader->row_count() != entry.row_count) return Broken(path, "wrong row count");
  std::vector<DocId> docs(static_cast<size_t>(entry.row_count));
  std::iota(docs.begin(), docs.end(), DocId{0});
  ARROW_ASSIGN_OR_RAISE(const auto fetch, RowFetch::Make(*reader, docs, {kRowFieldId}));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const std::vector<ByteRange> reads, fetch->NextReads());
    if (reads.empty()) break;
    ARROW_ASSIGN_OR_RAISE(Buffers buffers, Wait(file->Read(reads)));
    ARROW_RETURN_NOT_OK(fetch->Feed(std::move(buffers)));
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, fetch->Rows());
  const auto& numbers = static_cast<const arrow::Int64Array&>(*batch->column(0));
  RowBitmap deleted;
  if (entry.tombstones) {
    const std::string name = ObjectPath(folder, entry.tombstones->object.name);
    ARROW_ASSIGN_OR_RAISE(const VersionedBytes tombstones, Wait(store.Get(name)));
    ARROW_ASSIGN_OR_RAISE(deleted, DecodeTombstones(entry, *tombstones.bytes, name));
  }
  for (const DocId doc : docs) {
    if (!deleted.Contains(doc)) rows->push_back({reader->IdOf(doc), numbers.Value(doc)});
  }
  if (reader->IdOf(0) != entry.min_id || reader->IdOf(docs.back()) != entry.max_id) {
    return Broken(path, "wrong id range");
  }
  return arrow::Status::OK();
}

}  // namespace

TableSchema RowTextTableSchema() {
  TableSchema schema;
  schema.columns.push_back(
      {.field_id = kRowFieldId, .field = arrow::field("row", arrow::int64(), false), .text = {}});
  schema.columns.push_back({.field_id = 2,
                            .field = arrow::field("text", arrow::large_utf8()),
                            .text = TextIndexOptions{}});
  schema.last_field_id = 2;
  return schema;
}

QueryEnvironment TestQuerying(const std::shared_ptr<ObjectStore>& store) {
  constexpr int64_t kCacheBytes = int64_t{4} << 20;
  QueryEnvironment querying;
  querying.superfiles = std::make_shared<SuperfileCache>(
      store, std::make_shared<BlockCache>(kCacheBytes), kCacheBytes);
  querying.tombstones = std::make_shared<TombstoneCache>(store, kCacheBytes);
  querying.row_selector = MakeRowPredicates();
  return querying;
}

WriterEnvironment TestEnvironment(std::shared_ptr<ObjectStore> store, uint64_t seed) {
  WriterEnvironment environment;
  environment.store = std::move(store);
  environment.clock = std::make_shared<ManualClock>(kTestNowMs);
  environment.random = std::make_shared<Random>(seed);
  environment.querying = TestQuerying(environment.store);
  return environment;
}

TableHandle OpenHandle(const WriterEnvironment& environment, const std::string& folder) {
  TableHandle handle;
  handle.pointer = std::make_shared<const PointerStore>(
      environment.store, folder,
      PointerStore::Options{.clock = environment.clock,
                            .random = environment.random,
                            .timeout_ms = environment.commit_timeout_ms});
  handle.loader = std::make_shared<SnapshotLoader>(
      environment.store, folder, handle.pointer,
      SnapshotLoader::Options{.clock = environment.clock, .freshness_ms = 0});
  handle.writer = TableWriter::Make(environment, folder, handle.loader, handle.pointer);
  return handle;
}

std::shared_ptr<arrow::RecordBatch> NumberedRows(int64_t first_row, int64_t count, int words) {
  arrow::Int64Builder numbers;
  arrow::LargeStringBuilder texts;
  for (int64_t row = first_row; row < first_row + count; ++row) {
    arrow::Status status = numbers.Append(row);
    std::string text = "row" + std::to_string(row);
    for (int word = 0; word < words; ++word) {
      text += " word" + std::to_string((row * 7919 + word * 104'729) % 20'011);
    }
    status &= texts.Append(text);
    if (!status.ok()) return nullptr;
  }
  return arrow::RecordBatch::Make(RowTextTableSchema().ToArrow(), count,
                                  {numbers.Finish().ValueOrDie(), texts.Finish().ValueOrDie()});
}

std::shared_ptr<arrow::RecordBatchReader> StreamOf(std::shared_ptr<arrow::RecordBatch> batch) {
  auto schema = batch->schema();
  return std::make_shared<FunctionReader>(std::move(schema), [batch = std::move(batch)]() mutable {
    return arrow::Result<std::shared_ptr<arrow::RecordBatch>>(std::exchange(batch, nullptr));
  });
}

std::shared_ptr<arrow::RecordBatchReader> NumberedStream(int64_t first_row, int64_t count,
                                                         int64_t batch_rows, arrow::Status end,
                                                         int words) {
  int64_t done = 0;
  return std::make_shared<FunctionReader>(
      RowTextTableSchema().ToArrow(),
      [=]() mutable -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        const int64_t rows = std::min(batch_rows, count - done);
        if (rows > 0)
          return NumberedRows(first_row + std::exchange(done, done + rows), rows, words);
        ARROW_RETURN_NOT_OK(end);
        return std::shared_ptr<arrow::RecordBatch>();
      });
}

arrow::Result<std::vector<StoredRow>> ReadAllRows(ObjectStore& store, const std::string& folder,
                                                  const Snapshot& snapshot) {
  std::vector<StoredRow> rows;
  for (const Snapshot::File& file : snapshot.files) {
    ARROW_RETURN_NOT_OK(AddRows(store, folder, *file.entry, &rows));
  }
  const ManifestTotals& totals = snapshot.root.totals;
  if (static_cast<int64_t>(rows.size()) != totals.row_count - totals.deleted_count) {
    return Broken(folder, "the root's row count is wrong");
  }
  std::ranges::sort(rows, {}, &StoredRow::id);
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].id == rows[i - 1].id) return Broken(folder, "an id was given twice");
  }
  return rows;
}

arrow::Result<std::vector<StoredRow>> ReadTable(const WriterEnvironment& environment,
                                                const std::string& folder) {
  const TableHandle handle = OpenHandle(environment, folder);
  ARROW_ASSIGN_OR_RAISE(const auto snapshot, handle.loader->Newest({}));
  return ReadAllRows(*environment.store, folder, *snapshot);
}

arrow::Result<std::vector<int64_t>> ReadRowNumbers(const WriterEnvironment& environment,
                                                   const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<StoredRow> rows, ReadTable(environment, folder));
  std::vector<int64_t> numbers;
  numbers.reserve(rows.size());
  for (const StoredRow& row : rows) numbers.push_back(row.row);
  std::ranges::sort(numbers);
  return numbers;
}

int64_t CountObjects(ObjectStore& store, const std::string& prefix) {
  const auto listed = Wait(store.List(prefix));
  return listed.ok() ? static_cast<int64_t>(listed->size()) : -1;
}

}  // namespace infino
