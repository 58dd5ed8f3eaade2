#include "infino/storage/local_scratch.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/byte_range.h"
#include "infino/common/bytes.h"
#include "infino/common/scratch.h"
#include "infino/error.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using ::testing::HasSubstr;

TEST(LocalScratch, ReadsWhatWasWrittenAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto scratch = MakeLocalScratch(folder.path());
  {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto first, scratch->NewFile());
    INFINO_ASSERT_OK_AND_ASSIGN(const auto second, scratch->NewFile());
    const std::vector<uint8_t> bytes(300'000, 7);
    INFINO_ASSERT_OK(first->Append(bytes));
    INFINO_ASSERT_OK(first->Append(AsBytes("the end")));
    INFINO_ASSERT_OK(second->Append(AsBytes("another")));
    EXPECT_EQ(first->size(), 300'007);
    INFINO_ASSERT_OK_AND_ASSIGN(const auto end, first->Read({.offset = 299'999, .length = 8}));
    EXPECT_EQ(end->ToString(), "\7the end");
    INFINO_ASSERT_OK_AND_ASSIGN(const auto all, second->Read({.offset = 0, .length = 7}));
    EXPECT_EQ(all->ToString(), "another");
    EXPECT_THAT(second->Read({.offset = 0, .length = 8}), IsError(ErrorKind::kCorrupt));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a file has a name";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LocalScratch, UsesTheSystemsFolderUnlessTold) {
  const auto scratch = MakeLocalScratch(std::nullopt);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto file, scratch->NewFile());
  INFINO_EXPECT_OK(file->Append(AsBytes("x")));
}

TEST(LocalScratch, NamesTheFolderThatCannotBeUsed) {
  const TemporaryFolder folder;
  const std::string missing = folder.path() + "/missing";
  const auto no_folder = MakeLocalScratch(missing)->NewFile();
  ASSERT_THAT(no_folder, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(no_folder.status().message(), HasSubstr(missing));

  const std::string name = folder.path() + "/file";
  std::ofstream(name) << "x";
  const auto no_folder_either = MakeLocalScratch(name)->NewFile();
  ASSERT_THAT(no_folder_either, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(no_folder_either.status().message(), HasSubstr(name));
}

}  // namespace
}  // namespace infino
