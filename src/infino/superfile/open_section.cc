#include "infino/superfile/open_section.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/error.h"
#include "infino/superfile/superfile_format.h"

namespace infino {
namespace {

constexpr uint64_t kFieldIdMax = std::numeric_limits<int32_t>::max();

/// The least bytes of a region's and of a part's entry.
constexpr uint64_t kRegionBytesMin = 8;
constexpr uint64_t kPartBytesMin = 3;

arrow::Status ReadHead(ByteReader& in, const std::string& object, OpenSection& section) {
  ARROW_ASSIGN_OR_RAISE(const uint32_t magic, in.ReadU32());
  if (magic != kOpenSectionMagic) return in.Corrupt("no open section");
  ARROW_ASSIGN_OR_RAISE(const uint16_t version, in.ReadU16());
  if (version != kSuperfileFormatVersion) {
    return MakeError(
        ErrorKind::kUnsupportedVersion,
        object + ": superfile format version " + std::to_string(version) +
            " is not known to this library, known=" + std::to_string(kSuperfileFormatVersion));
  }
  ARROW_RETURN_NOT_OK(in.ReadU16().status());
  ARROW_ASSIGN_OR_RAISE(const ByteSpan id, in.ReadBytes(section.id.bytes.size()));
  std::copy(id.begin(), id.end(), section.id.bytes.begin());
  ARROW_ASSIGN_OR_RAISE(const uint64_t row_count, in.ReadU64());
  if (row_count == 0 || row_count > static_cast<uint64_t>(kSuperfileRowsMax)) {
    return in.Corrupt("row count");
  }
  section.row_count = static_cast<int64_t>(row_count);
  ARROW_ASSIGN_OR_RAISE(const uint64_t body_length, in.ReadU64());
  if (body_length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return in.Corrupt("body length");
  }
  section.body_length = static_cast<int64_t>(body_length);
  return arrow::Status::OK();
}

arrow::Status ReadRegions(ByteReader& in, const ByteRange& place, OpenSection& section) {
  if (section.body_length > place.offset) return in.Corrupt("body length");
  const auto file_limit = static_cast<uint64_t>(place.offset);
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(in.remaining() / kRegionBytesMin));
  int64_t free_from = section.body_length;
  for (uint64_t i = 0; i < count; ++i) {
    OpenRegion region;
    ARROW_ASSIGN_OR_RAISE(const uint8_t kind, in.ReadU8());
    region.kind = static_cast<RegionKind>(kind);
    ARROW_ASSIGN_OR_RAISE(const uint64_t field_id, in.ReadVarint(kFieldIdMax));
    region.field_id = static_cast<int32_t>(field_id);
    ARROW_ASSIGN_OR_RAISE(const uint64_t offset, in.ReadVarint(file_limit));
    ARROW_ASSIGN_OR_RAISE(const uint64_t length, in.ReadVarint(file_limit - offset));
    region.place = {.offset = static_cast<int64_t>(offset), .length = static_cast<int64_t>(length)};
    ARROW_ASSIGN_OR_RAISE(region.checksum, in.ReadU32());
    if (region.place.offset < free_from) return in.Corrupt("regions overlap");
    free_from = region.place.end();
    section.regions.push_back(region);
  }
  return arrow::Status::OK();
}

arrow::Status ReadParts(ByteReader& in, OpenSection& section) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t count, in.ReadVarint(in.remaining() / kPartBytesMin));
  std::vector<uint64_t> lengths;
  lengths.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    OpenPart part;
    ARROW_ASSIGN_OR_RAISE(const uint8_t kind, in.ReadU8());
    part.kind = static_cast<PartKind>(kind);
    ARROW_ASSIGN_OR_RAISE(const uint64_t field_id, in.ReadVarint(kFieldIdMax));
    part.field_id = static_cast<int32_t>(field_id);
    ARROW_ASSIGN_OR_RAISE(const uint64_t length, in.ReadVarint(in.remaining()));
    lengths.push_back(length);
    section.parts.push_back(part);
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(section.parts[i].bytes, in.ReadBytes(lengths[i]));
  }
  return in.AtEnd() ? arrow::Status::OK() : in.Corrupt("bytes behind the parts");
}

}  // namespace

const OpenPart* OpenSection::FindPart(PartKind kind, int32_t field_id) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const OpenPart& part) {
    return part.kind == kind && part.field_id == field_id;
  });
  return found == parts.end() ? nullptr : &*found;
}

const OpenRegion* OpenSection::FindRegion(RegionKind kind, int32_t field_id) const {
  const auto found = std::find_if(regions.begin(), regions.end(), [&](const OpenRegion& region) {
    return region.kind == kind && region.field_id == field_id;
  });
  return found == regions.end() ? nullptr : &*found;
}

void EncodeOpenSection(const OpenSection& section, ByteWriter& out) {
  const size_t start = out.size();
  out.WriteU32(kOpenSectionMagic);
  out.WriteU16(kSuperfileFormatVersion);
  out.WriteU16(0);
  out.WriteBytes(section.id.bytes);
  out.WriteU64(static_cast<uint64_t>(section.row_count));
  out.WriteU64(static_cast<uint64_t>(section.body_length));
  out.WriteVarint(section.regions.size());
  for (const OpenRegion& region : section.regions) {
    out.WriteU8(static_cast<uint8_t>(region.kind));
    out.WriteVarint(static_cast<uint64_t>(region.field_id));
    out.WriteVarint(static_cast<uint64_t>(region.place.offset));
    out.WriteVarint(static_cast<uint64_t>(region.place.length));
    out.WriteU32(region.checksum);
  }
  out.WriteVarint(section.parts.size());
  for (const OpenPart& part : section.parts) {
    out.WriteU8(static_cast<uint8_t>(part.kind));
    out.WriteVarint(static_cast<uint64_t>(part.field_id));
    out.WriteVarint(part.bytes.size());
  }
  for (const OpenPart& part : section.parts) out.WriteBytes(part.bytes);
  out.WriteU32(Crc32c(out.bytes().subspan(start)));
}

arrow::Result<OpenSection> ParseOpenSection(ByteSpan bytes, const ByteRange& place,
                                            const std::string& object) {
  OpenSection section;
  constexpr size_t kTrailer = sizeof(uint32_t);
  if (bytes.size() < kOpenSectionHeadSize + kTrailer) {
    return MakeError(ErrorKind::kCorrupt, object + ": open section is too short, offset=" +
                                              std::to_string(place.offset) +
                                              " length=" + std::to_string(bytes.size()));
  }
  const ByteSpan body = bytes.first(bytes.size() - kTrailer);
  ByteReader in(body, object);
  ARROW_RETURN_NOT_OK(ReadHead(in, object, section));
  if (Crc32c(body) != LoadU32(bytes.data() + body.size())) {
    return MakeError(ErrorKind::kCorrupt, object + ": open section has a wrong checksum, offset=" +
                                              std::to_string(place.offset));
  }
  ARROW_RETURN_NOT_OK(ReadRegions(in, place, section));
  ARROW_RETURN_NOT_OK(ReadParts(in, section));
  return section;
}

std::string RegionName(RegionKind kind, int32_t field_id) {
  switch (kind) {
    case RegionKind::kText:
      return "text." + std::to_string(field_id);
    case RegionKind::kVector:
      return "vector." + std::to_string(field_id);
    case RegionKind::kRowMap:
      return "row_map";
  }
  return "region." + std::to_string(static_cast<int>(kind)) + "." + std::to_string(field_id);
}

}  // namespace infino
