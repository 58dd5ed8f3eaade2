#include "infino/supertable/layout.h"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/manifest/object_names.h"
#include "infino/storage/object_path.h"
#include "support/matchers.h"

namespace infino {
namespace {

TEST(Layout, FoldersOfOneNameDiffer) {
  CommitId unique;
  unique.bytes[0] = 0xAB;
  EXPECT_EQ(TableFolder("docs", {}), "docs-00000000000000000000000000000000");
  EXPECT_EQ(TableFolder("docs", unique), "docs-ab000000000000000000000000000000");
}

TEST(Layout, AnyNameMakesAPath) {
  for (const std::string& name : {std::string("a/b"), std::string(".."), std::string("ü ber"),
                                  std::string(), std::string(500, 'x'), std::string(1, '\0')}) {
    EXPECT_THAT(CheckObjectPath(PointerPath(TableFolder(name, {}))), IsOk()) << name;
  }
}

TEST(Layout, PathsAreAsTheFormatDocumentSays) {
  EXPECT_EQ(CatalogPath(), "_catalog/current");
  EXPECT_EQ(PointerPath("t-0"), "t-0/_supertable/current");
  const std::string zero_id(32, '0');
  const std::string zero_hash(64, '0');
  EXPECT_EQ(SuperfilePath("t-0", {}), "t-0/data/" + zero_id + ".parquet");
  EXPECT_EQ(ObjectPath("t-0", PartName({})), "t-0/manifest/part-" + zero_hash + ".arrow");
  EXPECT_EQ(ObjectPath("t-0", SummaryName({})), "t-0/manifest/summary-" + zero_hash + ".arrow");
  EXPECT_EQ(RootName(17, {}), "manifest/00000000000000000017-" + zero_hash + ".json");
  EXPECT_EQ(RootName(~uint64_t{0}, {}), "manifest/18446744073709551615-" + zero_hash + ".json");
  EXPECT_EQ(TombstonesName({}, {}, {}),
            "tombstones/" + zero_id + "-" + zero_id + "-" + zero_hash + ".roaring");
}

}  // namespace
}  // namespace infino
