#include "infino/supertable/summary_reads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/future.h>

#include "infino/common/byte_range.h"
#include "infino/common/checksum.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/manifest/json_fields.h"
#include "infino/manifest/manifest.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/supertable/layout.h"

namespace infino {
namespace {

/// The wanted pieces of one summary object.
struct ObjectRead {
  std::vector<size_t> wanted;  ///< Their places.
  ByteRange range;             ///< Covers all of them.
  arrow::Future<std::shared_ptr<arrow::Buffer>> bytes;

  void Add(size_t at, const ByteRange& place) {
    const int64_t end = wanted.empty() ? place.end() : std::max(range.end(), place.end());
    range.offset = wanted.empty() ? place.offset : std::min(range.offset, place.offset);
    range.length = end - range.offset;
    wanted.push_back(at);
  }
};

}  // namespace

arrow::Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadSummaries(
    ObjectStore& store, std::string_view folder, std::span<const WantedSummary> wanted,
    std::string_view what, const StopCondition& stop) {
  std::map<std::string_view, ObjectRead> reads;
  for (size_t i = 0; i < wanted.size(); ++i) {
    reads[wanted[i].object->name].Add(i, wanted[i].ref->place);
  }
  for (auto& [name, read] : reads) {
    read.bytes = store.GetRange(ObjectPath(folder, name), read.range);
  }
  std::vector<std::shared_ptr<arrow::Buffer>> pieces(wanted.size());
  for (const auto& [name, read] : reads) {
    const std::string path = ObjectPath(folder, name);
    const auto bytes = Wait(read.bytes, stop);
    if (IsError(bytes.status(), ErrorKind::kNotFound)) {
      return CorruptObject(path, "an object of the table is missing");
    }
    ARROW_RETURN_NOT_OK(bytes.status());
    for (const size_t at : read.wanted) {
      const SummaryRef& ref = *wanted[at].ref;
      pieces[at] =
          arrow::SliceBuffer(*bytes, ref.place.offset - read.range.offset, ref.place.length);
      const arrow::Buffer& piece = *pieces[at];
      if (Crc32c({piece.data(), static_cast<size_t>(piece.size())}) != ref.checksum) {
        return CorruptObject(path, std::string(what) + " has a wrong checksum: offset=" +
                                       std::to_string(ref.place.offset));
      }
    }
  }
  return pieces;
}

}  // namespace infino
