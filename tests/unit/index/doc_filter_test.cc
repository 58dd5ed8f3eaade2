#include "infino/index/doc_filter.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "infino/codec/row_bitmap.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "support/seed.h"

namespace infino {
namespace {

TEST(DocFilter, PassesWhatWasNotShutOut) {
  Random random(TestSeed());
  for (const uint32_t rows : {0U, 1U, 63U, 64U, 65U, 1000U}) {
    DocFilter filter(rows);
    std::set<DocId> left;
    for (DocId doc = 0; doc < rows; ++doc) left.insert(doc);
    RowBitmap tombstones;
    for (int i = 0; i < 100; ++i) {
      const auto doc = static_cast<DocId>(random.Below(rows + 100));
      if (i % 2 == 0) filter.Exclude(doc);
      if (i % 2 == 1) tombstones.Add(doc);
      left.erase(doc);
    }
    filter.Exclude(tombstones);
    RowBitmap retained;
    for (DocId doc = 0; doc < rows + 70; doc += 3) retained.Add(doc);
    filter.Retain(retained);
    std::erase_if(left, [](DocId doc) { return doc % 3 != 0; });
    EXPECT_EQ(filter.pass_count(), left.size());
    for (DocId doc = 0; doc < rows + 200; ++doc) {
      EXPECT_EQ(filter.Passes(doc), left.contains(doc)) << doc;
    }
  }
}

TEST(DocFilter, HasNoBitsPastTheRows) {
  const DocFilter filter(70);
  EXPECT_EQ(filter.Word(0), ~uint64_t{0});
  EXPECT_EQ(filter.Word(1), (uint64_t{1} << 6) - 1);
  EXPECT_EQ(filter.Word(2), 0);
}

}  // namespace
}  // namespace infino
