#include "infino/manifest/object_names.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "infino/common/content_hash.h"
#include "infino/common/ids.h"

namespace infino {

std::string SuperfileName(const SuperfileId& id) {
  return "data/" + id.ToHex() + ".parquet";
}

std::string RootName(uint64_t version, const ContentHash& hash) {
  constexpr size_t kVersionDigits = 20;
  const std::string digits = std::to_string(version);
  return "manifest/" + std::string(kVersionDigits - digits.size(), '0') + digits + "-" +
         hash.ToHex() + ".json";
}

std::string PartName(const ContentHash& hash) {
  return "manifest/part-" + hash.ToHex() + ".arrow";
}

std::string SummaryName(const ContentHash& hash) {
  return "manifest/summary-" + hash.ToHex() + ".arrow";
}

std::string PointsName(const ContentHash& hash) {
  return "manifest/points-" + hash.ToHex() + ".arrow";
}

std::string TombstonesName(const SuperfileId& id, const CommitId& commit, const ContentHash& hash) {
  return "tombstones/" + id.ToHex() + "-" + commit.ToHex() + "-" + hash.ToHex() + ".roaring";
}

}  // namespace infino
