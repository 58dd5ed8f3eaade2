// Every byte flipped and every length cut: an error, or the right rows.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/superfile/superfile_reader.h"
#include "infino/superfile/superfile_writer.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/superfile/random_arrays.h"
#include "unit/superfile/superfile_fixture.h"

namespace infino {
namespace {

constexpr int64_t kRows = 40;

class DamagedSuperfile : public testing::Test {
 protected:
  void SetUp() override {
    Random random(TestSeed());
    schema_ = SchemaOf({arrow::field("text", arrow::large_utf8()),
                        arrow::field("tags", arrow::list(arrow::utf8())),
                        arrow::field("kind", arrow::dictionary(arrow::int8(), arrow::utf8()))});
    batch_ = RandomBatch(schema_.ToArrow(), kRows, random);
    INFINO_ASSERT_OK_AND_ASSIGN(built_, BuildFrom(schema_, {batch_}));
    all_.resize(kRows);
    std::iota(all_.begin(), all_.end(), 0);
  }

  /// The file with that byte changed.
  [[nodiscard]] BuiltSuperfile Flipped(int64_t offset, uint8_t flip) const {
    BuiltSuperfile damaged = built_;
    std::vector<uint8_t> bytes(built_.bytes->data(), built_.bytes->data() + built_.bytes->size());
    bytes[static_cast<size_t>(offset)] ^= flip;
    damaged.bytes = ToBuffer(std::move(bytes));
    return damaged;
  }

  /// A failure of a kind that stored bytes may have.
  static void ExpectDamageKind(const arrow::Status& status, int64_t offset) {
    const auto kind = KindOf(status);
    EXPECT_TRUE(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupportedVersion)
        << "offset " << offset << ": " << status.ToString();
  }

  /// Opens and reads through the manifest's eyes: right rows or an error.
  void ExpectRightOrFailing(const BuiltSuperfile& damaged, int64_t offset) const {
    const auto superfile = OpenBuilt(damaged);
    if (!superfile.ok()) return ExpectDamageKind(superfile.status(), offset);
    const auto rows = FetchRows(**superfile, all_, {1, 2, 3});
    if (!rows.ok()) return ExpectDamageKind(rows.status(), offset);
    for (int i = 0; i < batch_->num_columns(); ++i) {
      ASSERT_TRUE(SameValues((*rows)->column(i), batch_->column(i)))
          << "a wrong value after a change at offset " << offset;
    }
  }

  TableSchema schema_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  BuiltSuperfile built_;
  std::vector<DocId> all_;
};

TEST_F(DamagedSuperfile, AnyFlippedByteGivesTheRightRowsOrAnError) {
  for (int64_t offset = 0; offset < built_.bytes->size(); ++offset) {
    for (const uint8_t flip : std::vector<uint8_t>{0x01, 0x80})
      ExpectRightOrFailing(Flipped(offset, flip), offset);
  }
}

TEST_F(DamagedSuperfile, VerifyNoticesEveryFlippedByteOfBodyRegionsAndOpenSection) {
  INFINO_ASSERT_OK_AND_ASSIGN(const auto whole, OpenBuilt(built_));
  INFINO_ASSERT_OK(VerifySuperfile(*whole));
  for (int64_t offset = 0; offset < built_.summary.open_section.end(); ++offset) {
    const auto superfile = OpenBuilt(Flipped(offset, 0x10));
    if (!superfile.ok()) continue;
    const auto status = VerifySuperfile(**superfile);
    EXPECT_FALSE(status.ok()) << "offset " << offset;
    ExpectDamageKind(status, offset);
  }
}

TEST_F(DamagedSuperfile, AFlippedFooterIsNoticedOrHarmlessWhenOpenedAlone) {
  for (int64_t offset = built_.summary.open_section.end(); offset < built_.bytes->size();
       ++offset) {
    for (const uint8_t flip : std::vector<uint8_t>{0x01, 0x10, 0xFF}) {
      const BuiltSuperfile damaged = Flipped(offset, flip);
      const auto superfile = OpenAlone(damaged.bytes);
      if (!superfile.ok()) {
        ExpectDamageKind(superfile.status(), offset);
        continue;
      }
      ExpectRightOrFailing(damaged, offset);
      const auto verified = VerifySuperfile(**superfile);
      if (!verified.ok()) ExpectDamageKind(verified, offset);
    }
  }
}

TEST_F(DamagedSuperfile, AnyShorterFileFailsToOpenOrToFetch) {
  for (int64_t length = 0; length < built_.bytes->size(); ++length) {
    const auto cut = arrow::SliceBuffer(built_.bytes, 0, length);
    const auto alone = OpenAlone(cut);
    ASSERT_FALSE(alone.ok()) << "length " << length;
    ExpectDamageKind(alone.status(), length);
  }
}

TEST_F(DamagedSuperfile, ACutOpenSectionIsCorrupt) {
  for (int64_t length = 0; length < built_.summary.open_section.length; ++length) {
    BuiltSuperfile damaged = built_;
    damaged.summary.open_section.length = length;
    EXPECT_THAT(OpenBuilt(damaged), IsError(ErrorKind::kCorrupt));
  }
}

TEST_F(DamagedSuperfile, AnotherFilesIdIsCorrupt) {
  BuiltSuperfile other = built_;
  other.summary.id.bytes[3] ^= 1;
  EXPECT_THAT(OpenBuilt(other), IsError(ErrorKind::kCorrupt));
}

}  // namespace
}  // namespace infino
