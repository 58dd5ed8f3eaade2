#include "infino/supertable/term_filters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"
#include "infino/supertable/snapshot.h"

namespace infino {
namespace {

/// The wanted filters in one summary object.
struct SummaryRead {
  struct Wanted {
    SuperfileId superfile;
    const TermFilterRef* ref = nullptr;
  };

  std::vector<Wanted> wanted;
  ByteRange range;  ///< Covers all of them.
  arrow::Future<std::shared_ptr<arrow::Buffer>> bytes;

  void Add(const SuperfileId& superfile, const TermFilterRef& ref) {
    const int64_t end = wanted.empty() ? ref.place.end() : std::max(range.end(), ref.place.end());
    range.offset = wanted.empty() ? ref.place.offset : std::min(range.offset, ref.place.offset);
    range.length = end - range.offset;
    wanted.push_back({.superfile = superfile, .ref = &ref});
  }
};

const TermFilterRef* FindFilter(const SuperfileEntry& entry, int32_t field_id) {
  const auto found =
      std::find_if(entry.term_filters.begin(), entry.term_filters.end(),
                   [&](const TermFilterRef& filter) { return filter.field_id == field_id; });
  return found == entry.term_filters.end() ? nullptr : &*found;
}

/// Takes over what `known` has and returns what has to be read, by name of the summary object.
std::map<std::string, SummaryRead> PlanReads(const Snapshot& snapshot,
                                             const ColumnTermFilters* known,
                                             ColumnTermFilters* filters) {
  std::map<std::string, SummaryRead> reads;
  for (const Snapshot::File& file : snapshot.files) {
    const SuperfileId& id = file.entry->id;
    if (known != nullptr) {
      if (const auto found = known->by_superfile.find(id); found != known->by_superfile.end()) {
        filters->by_superfile.insert(*found);
        continue;
      }
    }
    const TermFilterRef* ref = FindFilter(*file.entry, filters->field_id);
    if (ref == nullptr) continue;
    const ObjectRef& summary = file.part->summaries[static_cast<size_t>(ref->summary)];
    reads[summary.name].Add(id, *ref);
  }
  return reads;
}

arrow::Status TakeFilters(const std::string& path, const SummaryRead& read,
                          const std::shared_ptr<arrow::Buffer>& bytes, ColumnTermFilters* filters) {
  for (const SummaryRead::Wanted& wanted : read.wanted) {
    const ByteRange& place = wanted.ref->place;
    auto filter = arrow::SliceBuffer(bytes, place.offset - read.range.offset, place.length);
    if (Crc32c({filter->data(), static_cast<size_t>(filter->size())}) != wanted.ref->checksum) {
      return CorruptObject(
          path, "term filter has a wrong checksum: offset=" + std::to_string(place.offset));
    }
    filters->by_superfile.emplace(wanted.superfile, std::move(filter));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<const ColumnTermFilters>> LoadTermFilters(
    ObjectStore& store, std::string_view folder, const Snapshot& snapshot, int32_t field_id,
    const ColumnTermFilters* known, const StopCondition& stop) {
  auto filters = std::make_shared<ColumnTermFilters>();
  filters->field_id = field_id;
  auto reads = PlanReads(snapshot, known, filters.get());
  for (auto& [name, read] : reads) {
    read.bytes = store.GetRange(ObjectPath(folder, name), read.range);
  }
  for (const auto& [name, read] : reads) {
    const std::string path = ObjectPath(folder, name);
    const auto bytes = Wait(read.bytes, stop);
    if (IsError(bytes.status(), ErrorKind::kNotFound)) {
      return CorruptObject(path, "an object of the table is missing");
    }
    ARROW_RETURN_NOT_OK(bytes.status());
    ARROW_RETURN_NOT_OK(TakeFilters(path, read, *bytes, filters.get()));
  }
  return filters;
}

}  // namespace infino
