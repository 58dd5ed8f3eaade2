#include "infino/manifest/points_codec.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/ids.h"
#include "infino/common/random.h"
#include "infino/error.h"
#include "infino/manifest/arrow_object.h"
#include "infino/manifest/root_codec.h"
#include "support/matchers.h"
#include "support/seed.h"
#include "unit/manifest/sample_manifest.h"

namespace infino {
namespace {

TEST(PointsCodec, GivesBackWhatItWasGiven) {
  Random random(TestSeed());
  for (const size_t count : std::vector<size_t>{1, 2, 255, 256}) {
    const size_t dimension = 16 + random.Below(60);
    ReferencePoints points = RandomPoints(random, 7, dimension, count);
    for (const double spread : {0.0, 0.1, 1e-300, 1e300, random.Unit()}) {
      points.spread = spread;
      const auto bytes = EncodePoints(points, random.NextId<CommitId>());
      ASSERT_THAT(bytes, IsOk());
      const auto decoded = DecodePoints(**bytes, "points");
      ASSERT_THAT(decoded, IsOk());
      EXPECT_EQ(decoded->field_id, 7);
      EXPECT_EQ(decoded->spread, spread);
      EXPECT_EQ(decoded->list->dimension(), dimension);
      EXPECT_EQ(decoded->list->id(), points.list->id());
      EXPECT_THAT(CheckContent(RefOfPoints(**bytes), **bytes), IsOk());
    }
  }
}

TEST(PointsCodec, CommitsNeverShareAName) {
  Random random(TestSeed());
  const ReferencePoints points = RandomPoints(random, 1);
  const CommitId commit = random.NextId<CommitId>();
  const auto one = EncodePoints(points, commit);
  const auto same = EncodePoints(points, commit);
  const auto other = EncodePoints(points, random.NextId<CommitId>());
  EXPECT_EQ(RefOfPoints(**one), RefOfPoints(**same));
  EXPECT_NE(RefOfPoints(**one).name, RefOfPoints(**other).name);
}

TEST(PointsCodec, TheObjectIsAnArrowStream) {
  Random random(TestSeed());
  const ReferencePoints points = RandomPoints(random, 3, 16, 5);
  const auto bytes = EncodePoints(points, random.NextId<CommitId>());
  arrow::io::BufferReader input(*bytes);
  const auto stream = arrow::ipc::RecordBatchStreamReader::Open(&input);
  ASSERT_THAT(stream, IsOk());
  const auto batch = (*stream)->Next();
  ASSERT_THAT(batch, IsOk());
  EXPECT_EQ((*batch)->num_rows(), 5);
  EXPECT_EQ((*batch)->column(0)->type()->ToString(), "fixed_size_list<item: float not null>[16]");
  EXPECT_THAT((*stream)->schema()->metadata()->Get("inf.field_id"), HasValue("3"));
}

TEST(PointsCodec, RefusesToWriteASpreadThatIsNone) {
  Random random(TestSeed());
  ReferencePoints points = RandomPoints(random, 1);
  for (const double spread :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    points.spread = spread;
    EXPECT_THAT(EncodePoints(points, {}), IsError(ErrorKind::kInternal));
  }
}

TEST(PointsCodec, EveryChangedByteIsNoticedByTheHash) {
  Random random(TestSeed());
  const auto bytes = EncodePoints(RandomPoints(random, 1, 16, 3), random.NextId<CommitId>());
  const ObjectRef ref = RefOfPoints(**bytes);
  for (size_t at = 0; at < static_cast<size_t>((*bytes)->size()); ++at) {
    for (const uint8_t mask : std::vector<uint8_t>{0x01, 0x80}) {
      const auto damaged = WithByteChanged(**bytes, at, mask);
      EXPECT_THAT(CheckContent(ref, *damaged), IsError(ErrorKind::kCorrupt));
      const auto decoded = DecodePoints(*damaged, "points");
      EXPECT_TRUE(decoded.ok() || IsError(decoded.status(), ErrorKind::kCorrupt) ||
                  IsError(decoded.status(), ErrorKind::kUnsupportedVersion))
          << decoded.status();
    }
  }
}

TEST(PointsCodec, EveryTruncationIsCorrupt) {
  Random random(TestSeed());
  const auto bytes = EncodePoints(RandomPoints(random, 1, 16, 3), random.NextId<CommitId>());
  for (int64_t length = 0; length < (*bytes)->size(); ++length) {
    EXPECT_THAT(DecodePoints(*arrow::SliceBuffer(*bytes, 0, length), "points"),
                IsError(ErrorKind::kCorrupt))
        << "length " << length;
  }
}

/// A stream of one batch, with the metadata of points.
std::shared_ptr<arrow::Buffer> StreamOf(const std::shared_ptr<arrow::DataType>& type,
                                        const std::string& rows, const std::string& spread,
                                        std::string_view kind = kPointsKind,
                                        const std::string& field_id = "1") {
  const auto column = arrow::json::ArrayFromJSONString(type, rows).ValueOrDie();
  const auto metadata = ArrowObjectMetadata(kind, CommitId())->Copy();
  metadata->Append("inf.field_id", field_id);
  metadata->Append("inf.spread", spread);
  const auto schema = arrow::schema({arrow::field("point", type, false)}, metadata);
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = arrow::ipc::MakeStreamWriter(sink, schema).ValueOrDie();
  EXPECT_THAT(writer->WriteRecordBatch(
                  *arrow::RecordBatch::Make(schema, column->length(), arrow::ArrayVector{column})),
              IsOk());
  EXPECT_THAT(writer->Close(), IsOk());
  return sink->Finish().ValueOrDie();
}

std::string Repeated(const std::string& item, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? "," : "") + item;
  return "[" + list + "]";
}

TEST(PointsCodec, WhatIsNoListOfPointsIsCorrupt) {
  const auto number = arrow::field("item", arrow::float32(), false);
  const auto type = arrow::fixed_size_list(number, 16);
  const std::string point = Repeated("1.5", 16);
  EXPECT_THAT(DecodePoints(*StreamOf(type, Repeated(point, 2), "0.5"), "points"), IsOk());
  const auto expect_corrupt = [](const std::shared_ptr<arrow::Buffer>& bytes) {
    EXPECT_THAT(DecodePoints(*bytes, "points"), IsError(ErrorKind::kCorrupt));
  };
  expect_corrupt(StreamOf(type, "[]", "0.5"));
  expect_corrupt(StreamOf(type, Repeated(point, 257), "0.5"));
  expect_corrupt(StreamOf(type, Repeated(Repeated("2e15", 16), 1), "0.5"));
  expect_corrupt(StreamOf(arrow::fixed_size_list(number, 15), Repeated(Repeated("1", 15), 1), "1"));
  expect_corrupt(StreamOf(arrow::fixed_size_list(arrow::float32(), 16), Repeated(point, 1), "1"));
  expect_corrupt(StreamOf(arrow::float32(), "[1]", "1"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "-1"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "inf"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "nan"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "1 "));
  expect_corrupt(StreamOf(type, Repeated(point, 1), ""));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "1", kSummaryKind));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "1", kPointsKind, "0"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "1", kPointsKind, "-4"));
  expect_corrupt(StreamOf(type, Repeated(point, 1), "1", kPointsKind, "x"));
}

}  // namespace
}  // namespace infino
