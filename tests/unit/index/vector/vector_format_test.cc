#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <arrow/buffer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/buffer_range_reader.h"
#include "infino/common/bytes.h"
#include "infino/common/ids.h"
#include "infino/index/top_k.h"
#include "infino/index/vector/point_list.h"
#include "infino/index/vector/vector_column.h"
#include "infino/index/vector/vector_index_reader.h"
#include "infino/index/vector/vector_space.h"
#include "infino/index/vector/verify_vector_index.h"
#include "support/matchers.h"
#include "unit/index/vector/vector_fixture.h"

namespace infino::vector {
namespace {

/// The hexadecimal blocks of a document, in order.
std::vector<std::vector<uint8_t>> HexBlocksOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<uint8_t>> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```hex") {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      std::istringstream bytes(line.substr(0, line.find('#')));
      for (std::string byte; bytes >> byte;) {
        blocks.back().push_back(static_cast<uint8_t>(std::stoul(byte, nullptr, 16)));
      }
    }
  }
  return blocks;
}

std::string HexOf(const arrow::Buffer& buffer) {
  return FormatHex({buffer.data(), static_cast<size_t>(buffer.size())});
}

/// Numbers 1 to 16; -1 everywhere; 0.5 and -0.5 in turn.
Vectors Rows() {
  Vectors rows(3, std::vector<float>(16));
  for (size_t i = 0; i < 16; ++i) {
    rows[0][i] = static_cast<float>(i + 1);
    rows[1][i] = -1;
    rows[2][i] = i % 2 == 0 ? 0.5F : -0.5F;
  }
  return rows;
}

/// Two points: 8 everywhere, and 0.
std::shared_ptr<const VectorSpace> Space() {
  std::vector<float> points(32, 8.0F);
  for (size_t i = 16; i < 32; ++i) points[i] = 0;
  const VectorColumn column = {.dimension = 16,
                               .metric = VectorMetric::kL2Squared,
                               .tier = RerankTier::kSq8Residual,
                               .rotation_seed = 7};
  return *VectorSpace::Make(column, {*PointList::Make(16, points)});
}

TEST(VectorIndexFormat, TheExampleOfTheDocumentIsWhatIsWritten) {
  const auto blocks = HexBlocksOf(INFINO_DOCS "/format/vector-index.md");
  ASSERT_EQ(blocks.size(), 2);
  const BuiltVectors built = BuildVectors(Space(), Rows());
  EXPECT_EQ(HexOf(*built.blob), FormatHex(blocks[0]));
  EXPECT_EQ(HexOf(*built.finished.open_part), FormatHex(blocks[1]));
}

TEST(VectorIndexFormat, TheExampleOfTheDocumentIsRead) {
  const auto blocks = HexBlocksOf(INFINO_DOCS "/format/vector-index.md");
  ASSERT_EQ(blocks.size(), 2);
  BuiltVectors built;
  built.blob = ToBuffer(blocks[0]);
  INFINO_ASSERT_OK_AND_ASSIGN(
      built.reader,
      VectorIndexReader::Open(ToBuffer(blocks[1]), built.blob->size(), "the example"));
  const BufferRangeReader blob(built.blob, "the example");
  INFINO_EXPECT_OK(VerifyVectorIndex(*built.reader, blob, SuperfileId()));
  ASSERT_EQ(built.reader->clusters().size(), 2);
  EXPECT_EQ(built.reader->clusters()[0].size(), 1);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto hits, Ask(built, *Space(), std::vector<float>(16), {}));
  ASSERT_EQ(hits.size(), 3);
  EXPECT_EQ(hits[0].doc, 2);
  EXPECT_NEAR(hits[0].score, -4, 1e-3);
  EXPECT_EQ(hits[1].doc, 1);
  EXPECT_NEAR(hits[1].score, -16, 1e-3);
  EXPECT_EQ(hits[2].doc, 0);
  EXPECT_NEAR(hits[2].score, -1496, 0.1);
}

}  // namespace
}  // namespace infino::vector
