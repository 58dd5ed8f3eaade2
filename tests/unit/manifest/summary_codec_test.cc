#include "infino/manifest/summary_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/checksum.h"
#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/manifest/manifest.h"
#include "infino/manifest/manifest_change.h"
#include "infino/manifest/value_counts_codec.h"
#include "infino/superfile/superfile_summary.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

TermFilter FilterOf(Random& random, int32_t field_id) {
  return {.field_id = field_id,
          .filter = arrow::Buffer::FromString(RandomBytes(random, 1 + random.Below(300)))};
}

TEST(SummaryCodec, WithoutFiltersThereIsNoObject) {
  const std::vector<SummarizedSuperfile> superfiles(3);
  const auto summary = EncodeSummary({}, superfiles);
  ASSERT_THAT(summary, IsOk());
  EXPECT_FALSE(summary->has_value());
}

TEST(SummaryCodec, PlacesHoldTheFiltersAndOneColumnIsOneRange) {
  Random random(TestSeed());
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<TermFilter>> filters(1 + random.Below(20));
    std::vector<SummarizedSuperfile> superfiles;
    for (auto& of_file : filters) {
      for (const int32_t field_id : {5, 2, 9}) {
        if (random.Below(4) > 0) of_file.push_back(FilterOf(random, field_id));
      }
    }
    for (const auto& of_file : filters) {
      superfiles.push_back({.superfile = random.NextId<SuperfileId>(), .filters = of_file});
    }
    const auto summary = EncodeSummary(random.NextId<CommitId>(), superfiles);
    ASSERT_THAT(summary, IsOk());
    if (!summary->has_value()) continue;
    const EncodedSummary& encoded = **summary;
    const std::string_view bytes(*encoded.bytes);
    std::map<int32_t, std::map<int64_t, int64_t>> ranges;
    for (size_t i = 0; i < filters.size(); ++i) {
      ASSERT_EQ(encoded.places[i].term_filters.size(), filters[i].size());
      for (const SummaryRef& ref : encoded.places[i].term_filters) {
        const auto at = static_cast<size_t>(ref.place.offset);
        const auto found = bytes.substr(at, static_cast<size_t>(ref.place.length));
        bool is_there = false;
        for (const TermFilter& filter : filters[i]) {
          is_there |= filter.field_id == ref.field_id && std::string_view(*filter.filter) == found;
        }
        EXPECT_TRUE(is_there);
        EXPECT_EQ(ref.checksum, Crc32c(AsBytes(found)));
        ranges[ref.field_id].emplace(ref.place.offset, ref.place.end());
      }
    }
    for (const auto& [field_id, of_column] : ranges) {
      int64_t end = of_column.begin()->first;
      for (const auto& [from, to] : of_column) {
        EXPECT_EQ(from, end);
        end = to;
      }
    }
  }
}

TEST(SummaryCodec, CountsComeBehindTheFiltersAndOneColumnIsOneRange) {
  Random random(TestSeed());
  std::vector<NewSuperfile> files;
  std::vector<SummarizedSuperfile> superfiles;
  for (int i = 0; i < 12; ++i) {
    files.push_back(RandomSuperfile(random, 2, random.Below(2) * 50, /*count_values=*/true));
  }
  for (const NewSuperfile& file : files) {
    superfiles.push_back(
        {.superfile = file.entry.id, .filters = file.filters, .counts = file.counts});
  }
  const auto summary = EncodeSummary(random.NextId<CommitId>(), superfiles);
  ASSERT_THAT(summary, IsOk());
  const std::string_view bytes(*(*summary)->bytes);
  int64_t end = 0;
  for (const SummaryPlaces& places : (*summary)->places) {
    for (const SummaryRef& ref : places.term_filters) end = std::max(end, ref.place.end());
  }
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ((*summary)->places[i].value_counts.size(), 1U);
    const SummaryRef& ref = (*summary)->places[i].value_counts[0];
    if (end > 0) {
      EXPECT_EQ(ref.place.offset, end);
    }
    end = ref.place.end();
    const auto found =
        bytes.substr(static_cast<size_t>(ref.place.offset), static_cast<size_t>(ref.place.length));
    EXPECT_EQ(ref.checksum, Crc32c(AsBytes(found)));
    const auto counts = DecodeValueCounts(AsBytes(found), ref.field_id, 1000, "counts");
    ASSERT_THAT(counts, IsOk());
    EXPECT_EQ(*counts, files[i].counts[0]);
  }
}

TEST(SummaryCodec, TheObjectIsAnArrowStream) {
  Random random(TestSeed());
  const std::vector<TermFilter> filters = {FilterOf(random, 1), FilterOf(random, 2)};
  const std::vector<SummarizedSuperfile> superfiles = {
      {.superfile = random.NextId<SuperfileId>(), .filters = filters}};
  const auto summary = EncodeSummary(random.NextId<CommitId>(), superfiles);
  ASSERT_THAT(summary, IsOk());
  arrow::io::BufferReader input((*summary)->bytes);
  const auto stream = arrow::ipc::RecordBatchStreamReader::Open(&input);
  ASSERT_THAT(stream, IsOk());
  const auto batch = (*stream)->Next();
  ASSERT_THAT(batch, IsOk());
  EXPECT_EQ((*batch)->num_rows(), 2);
  EXPECT_THAT((*batch)->ValidateFull(), IsOk());
}

TEST(SummaryCodec, CommitsNeverShareAName) {
  Random random(TestSeed());
  const std::vector<TermFilter> filters = {FilterOf(random, 1)};
  const std::vector<SummarizedSuperfile> superfiles = {{.superfile = {}, .filters = filters}};
  const auto one = EncodeSummary(random.NextId<CommitId>(), superfiles);
  const auto other = EncodeSummary(random.NextId<CommitId>(), superfiles);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(other, IsOk());
  EXPECT_NE((*one)->ref.name, (*other)->ref.name);
}

}  // namespace
}  // namespace infino
