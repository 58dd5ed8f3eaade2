#include "infino/supertable/layout.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "infino/common/ids.h"
#include "infino/manifest/object_names.h"

namespace infino {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string CatalogPath() {
  return "_catalog/current";
}

std::string TableFolder(std::string_view name, const CommitId& unique) {
  // Leaves room in a path segment; the name is there for people to read.
  constexpr size_t kNameBytesMax = 200;
  std::string folder(name.substr(0, kNameBytesMax));
  std::replace_if(folder.begin(), folder.end(), [](char c) { return !IsPlain(c); }, '_');
  return folder + "-" + unique.ToHex();
}

std::string PointerPath(std::string_view folder) {
  return ObjectPath(folder, "_supertable/current");
}

std::string ObjectPath(std::string_view folder, std::string_view name) {
  std::string path(folder);
  path += '/';
  path += name;
  return path;
}

std::string SuperfilePath(std::string_view folder, const SuperfileId& id) {
  return ObjectPath(folder, SuperfileName(id));
}

}  // namespace infino
