#include "unit/query/table_on_store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/type.h>

#include "infino/common/clock.h"
#include "infino/common/ids.h"
#include "infino/index_spec.h"
#include "infino/manifest/manifest.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/metered_store.h"
#include "infino/superfile/superfile_summary.h"
#include "infino/superfile/superfile_writer.h"
#include "infino/supertable/layout.h"
#include "support/builders.h"

namespace infino {

TableOnStore::TableOnStore(const TextIndexOptions& options)
    : meter_(std::make_shared<StoreMeter>()),
      store_(MakeMeteredStore(MakeMemoryStore(SystemClock()), meter_)),
      random_(1),
      part_(std::make_shared<ManifestPart>()) {
  const std::shared_ptr<arrow::Schema> declared = RowTextSchema();
  schema_.columns.push_back({.field_id = 1, .field = declared->field(0), .text = {}});
  schema_.columns.push_back({.field_id = 2, .field = declared->field(1), .text = options});
  schema_.last_field_id = 2;
  snapshot_.root.schema = schema_;
}

void TableOnStore::AddSuperfile(const std::vector<NullableText>& texts) {
  const auto id = random_.NextId<SuperfileId>();
  const auto writer = SuperfileWriter::Make(schema_, {.id = id}).ValueOrDie();
  const RowId first{.high = 7, .low = 1000 * (part_->entries.size() + 1)};
  MustSucceed(writer->Add(*RowsOf(texts, row_count_), first));
  row_count_ += static_cast<int64_t>(texts.size());
  const BuiltSuperfile built = writer->Finish().ValueOrDie();
  MustSucceed(store_->PutIfAbsent(SuperfilePath(folder_, id), built.bytes).status());

  const SuperfileSummary& summary = built.summary;
  SuperfileEntry& entry = part_->entries.emplace_back();
  entry.id = summary.id;
  entry.size_bytes = summary.size_bytes;
  entry.open_section = summary.open_section;
  entry.footer = summary.footer;
  entry.hash = summary.hash;
  entry.row_count = summary.row_count;
  entry.min_id = summary.min_id;
  entry.max_id = summary.max_id;
  entry.texts = summary.texts;

  ManifestTotals& totals = snapshot_.root.totals;
  if (totals.texts.empty()) totals.texts.push_back({.field_id = 2});
  totals.texts[0].rows_with_token += summary.texts[0].rows_with_token;
  totals.texts[0].token_total += summary.texts[0].token_total;
}

const Snapshot& TableOnStore::snapshot() {
  snapshot_.parts = {part_};
  snapshot_.files.clear();
  for (const SuperfileEntry& entry : part_->entries) {
    snapshot_.files.push_back({.entry = &entry, .part = part_.get()});
  }
  return snapshot_;
}

std::vector<const SuperfileEntry*> TableOnStore::entries() {
  std::vector<const SuperfileEntry*> entries;
  for (const SuperfileEntry& entry : part_->entries) entries.push_back(&entry);
  return entries;
}

}  // namespace infino
