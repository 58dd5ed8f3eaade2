#include "infino/storage/store_registry.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

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
  ARROW_ASSIGN_OR_RAISE(OpenedStore opened, OpenStore(uri, ConnectOptions(), SystemClock()));
  return std::move(opened.store);
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

arrow::Status OpenWith(const std::string& uri, std::map<std::string, std::string> options) {
  return OpenStore(uri, {.storage_options = std::move(options)}, SystemClock()).status();
}

TEST(StoreRegistry, ABucketIsOpenedWithoutARequest) {
  INFINO_EXPECT_OK(OpenWith("s3://b/p", {{"aws_region", "x"}}));
  INFINO_EXPECT_OK(OpenWith("az://c/p", {{"azure_storage_account_name", "a"}}));
  INFINO_EXPECT_OK(OpenWith("azure://c", {{"ACCOUNT_NAME", "a"}}));
  INFINO_EXPECT_OK(OpenWith("gs://b", {{"google_skip_signature", "true"}}));
  INFINO_EXPECT_OK(OpenWith("gcs://b/p/", {{"google_skip_signature", "true"}}));
}

TEST(StoreRegistry, ABucketAndAPrefixAreNeeded) {
  for (const std::string uri : {"s3://", "s3:///p", "az://", "gs://", "s3://b//p", "s3://b/../p"}) {
    EXPECT_THAT(OpenWith(uri, {}), IsError(ErrorKind::kInvalidArgument)) << uri;
  }
}

TEST(StoreRegistry, AnUnknownOptionIsNamedWithTheNearestOne) {
  const auto message = [](const std::string& uri, const std::string& key) {
    const arrow::Status status = OpenWith(uri, {{key, "x"}});
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument)) << key;
    return status.message();
  };
  EXPECT_THAT(message("s3://b", "aws_regoin"), HasSubstr("'aws_regoin'"));
  EXPECT_THAT(message("s3://b", "aws_regoin"), HasSubstr("aws_region?"));
  EXPECT_THAT(message("az://b", "azure_storage_acount_name"),
              HasSubstr("azure_storage_account_name?"));
  EXPECT_THAT(message("gs://b", "aws_region"), HasSubstr("'aws_region'"));
  EXPECT_THAT(message("gs://b", "timeuot"), HasSubstr("timeout?"));
}

TEST(StoreRegistry, OptionsThatCanNotBeAreRefused) {
  const std::string http = "http://127.0.0.1:1";
  const arrow::Status plain = OpenWith("s3://b", {{"aws_endpoint", http}});
  EXPECT_THAT(plain, IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(plain.message(), HasSubstr("aws_allow_http"));
  INFINO_EXPECT_OK(OpenWith("s3://b", {{"endpoint", http}, {"allow_http", "true"}}));
  EXPECT_THAT(OpenWith("s3://b", {{"timeout", "soon"}}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(OpenWith("s3://b", {{"aws_region", "x"}, {"region", "y"}}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(OpenWith("s3://b", {{"aws_access_key_id", "x"}}),
              IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(OpenWith("az://c", {{"azure_storage_account_key", "x"}}),
              IsError(ErrorKind::kInvalidArgument));
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
