#include "infino/storage/store_registry.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using testing::HasSubstr;

arrow::Result<std::shared_ptr<ObjectStore>> Open(const std::string& uri) {
  return OpenStore(uri, ConnectOptions(), SystemClock());
}

TEST(StoreRegistry, MemoryHasThreeNamesAndIsNewEachTime) {
  for (const std::string uri : {"memory://", "memory:", "memory"}) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto store, Open(uri));
    EXPECT_THAT(Wait(store->PutIfAbsent("a", arrow::Buffer::FromString("x"))), IsOk());
    INFINO_ASSERT_OK_AND_ASSIGN(const auto other, Open(uri));
    EXPECT_THAT(Wait(other->Get("a")), IsError(ErrorKind::kNotFound));
  }
}

TEST(StoreRegistry, AnUnknownSchemeIsRefusedByItsName) {
  for (const std::string uri : {"memory://foo", "S3://bucket", "hdfs://x", "s3a://b", "Memory://",
                                "FILE:///tmp", "://x", "https://host/db"}) {
    const auto opened = Open(uri);
    EXPECT_THAT(opened, IsError(ErrorKind::kInvalidArgument)) << uri;
    EXPECT_THAT(opened.status().message(), HasSubstr("unsupported catalog URI scheme: " + uri));
  }
}

TEST(StoreRegistry, AnObjectStoreThatIsNotBuiltInIsRefused) {
  for (const std::string uri : {"s3://b/p", "az://c/p", "azure://c", "gs://b", "gcs://b/p"}) {
    const auto opened = Open(uri);
    EXPECT_THAT(opened, IsError(ErrorKind::kInvalidArgument)) << uri;
    EXPECT_THAT(opened.status().message(),
                HasSubstr("object stores are not supported by this build: " + uri));
  }
}

TEST(StoreRegistry, AFolderIsTakenVerbatimAndCreated) {
  const TemporaryFolder folder;
  for (const std::string name : {"plain", "a b%20c", "~", "deep/er/est", "100% #1+?", "\xc3\xa9"}) {
    for (const std::string prefix : {"", "file://"}) {
      INFINO_ASSERT_OK(Open(prefix + folder.path() + "/" + name));
      EXPECT_TRUE(std::filesystem::is_directory(folder.path() + "/" + name)) << name;
    }
  }
}

TEST(StoreRegistry, ARelativeFolderIsResolvedAtOnce) {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto opened = Open("file://relative");
  std::filesystem::current_path(before);
  INFINO_ASSERT_OK(opened);
  INFINO_ASSERT_OK(Wait((*opened)->PutIfAbsent("a", arrow::Buffer::FromString("x"))));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/relative/a"));
}

TEST(StoreRegistry, AnEmptyPathNamesNoFolder) {
  EXPECT_THAT(Open(""), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(Open("file://"), IsError(ErrorKind::kInvalidArgument));
}

TEST(StoreRegistry, AFileInTheWayIsNamed) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/file";
  std::ofstream(file) << "x";
  const auto opened = Open(file);
  EXPECT_THAT(opened, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(opened.status().message(), HasSubstr("File exists"));
  EXPECT_THAT(opened.status().message(), HasSubstr(file));
  EXPECT_THAT(Open(file + "/below"), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace infino
