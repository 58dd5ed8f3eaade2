// A superfile's readers on any bytes. The first byte chooses: a whole file, opened through its
// footer and read to the end; an open section, whose checksum is set right so that what is behind
// it is reached; a row-fetch map; an id map.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/wait.h"
#include "infino/superfile/id_map.h"
#include "infino/superfile/row_fetch.h"
#include "infino/superfile/row_fetch_map.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/table_schema.h"

namespace infino {
namespace {

constexpr int64_t kRowsMax = 1000;

void FetchAll(const SuperfileReader& superfile) {
  if (superfile.row_count() > kRowsMax) return;
  std::vector<DocId> docs(static_cast<size_t>(superfile.row_count()));
  std::iota(docs.begin(), docs.end(), 0);
  std::vector<int32_t> field_ids;
  for (const auto& field : superfile.file_schema()->fields()) {
    field_ids.push_back(FieldIdOf(*field).value_or(0));
  }
  const auto fetch = RowFetch::Make(superfile, docs, field_ids);
  if (!fetch.ok()) return;
  while (true) {
    auto reads = (*fetch)->NextReads();
    if (!reads.ok()) return;
    if (reads->empty()) break;
    auto bytes = Wait(superfile.file().Read(*std::move(reads)));
    if (!bytes.ok() || !(*fetch)->Feed(*std::move(bytes)).ok()) return;
  }
  const auto rows = (*fetch)->Rows();
  if (rows.ok() && (*rows)->num_rows() != superfile.row_count()) std::abort();
}

void OpenAndRead(std::shared_ptr<const RangeReader> file, const ByteRange& place,
                 std::shared_ptr<arrow::Buffer> section, const SuperfileId& id) {
  const auto superfile = SuperfileReader::Open(std::move(file), place, std::move(section), id);
  if (!superfile.ok()) return;
  if ((*superfile)->FindId((*superfile)->IdOf(0)) != DocId{0}) std::abort();
  FetchAll(**superfile);
  // Damage may or may not be found, but must not be fatal.
  (void)VerifySuperfile(**superfile).ok();
}

void ReadFile(ByteSpan bytes) {
  auto buffer = ToBuffer({bytes.begin(), bytes.end()});
  auto file = std::make_shared<BufferRangeReader>(buffer, "fuzzed file");
  const auto open = FindOpenSection(*file, "fuzzed file");
  if (!open.ok()) return;
  OpenAndRead(file, open->place, arrow::SliceBuffer(buffer, open->place.offset, open->place.length),
              open->id);
}

/// The bytes are the file up to the end of the open section, which starts at the offset in the
/// first two; its checksum and id are made right.
void ReadOpenSection(ByteSpan bytes) {
  constexpr size_t kIdOffset = 8;
  SuperfileId id;
  if (bytes.size() < 2) return;
  const size_t offset = LoadU16(bytes.data());
  std::vector<uint8_t> file(bytes.begin() + 2, bytes.end());
  if (offset + kIdOffset + id.bytes.size() > file.size()) return;
  const auto at_id = file.begin() + static_cast<std::ptrdiff_t>(offset + kIdOffset);
  std::copy(at_id, at_id + static_cast<std::ptrdiff_t>(id.bytes.size()), id.bytes.begin());
  const uint32_t checksum = Crc32c(ByteSpan(file).subspan(offset));
  for (int shift = 0; shift < 32; shift += 8) {
    file.push_back(static_cast<uint8_t>(checksum >> shift));
  }
  const ByteRange place{.offset = static_cast<int64_t>(offset),
                        .length = static_cast<int64_t>(file.size() - offset)};
  auto buffer = ToBuffer(std::move(file));
  OpenAndRead(std::make_shared<BufferRangeReader>(buffer, "fuzzed file"), place,
              arrow::SliceBuffer(buffer, place.offset, place.length), id);
}

void ReadRowMap(ByteSpan bytes) {
  const RowFetchMap::Limits limits{.row_count = 1000, .body_length = 100'000, .leaf_count = 2};
  const auto map = RowFetchMap::Parse(bytes, "fuzzed map", limits);
  if (!map.ok()) return;
  for (int group = 0; group < (*map)->row_group_count(); ++group) {
    for (const PagePlace& page : (*map)->Chunk(group, 1).pages) {
      if (page.offset + page.length > limits.body_length) std::abort();
    }
  }
}

void ReadIdMap(ByteSpan bytes) {
  if (bytes.empty()) return;
  const int64_t row_count = 1 + int64_t{bytes[0]};
  ByteReader in(bytes.subspan(1), "fuzzed map");
  const auto map = IdMap::Parse(in, row_count);
  if (!map.ok()) return;
  for (DocId doc = 0; doc < static_cast<DocId>(row_count); ++doc) {
    if (map->Find(map->IdOf(doc)) != doc) std::abort();
  }
}

}  // namespace
}  // namespace infino

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const infino::ByteSpan bytes(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      infino::ReadFile(bytes);
      break;
    case 1:
      infino::ReadOpenSection(bytes);
      break;
    case 2:
      infino::ReadRowMap(bytes);
      break;
    default:
      infino::ReadIdMap(bytes);
  }
  return 0;
}
