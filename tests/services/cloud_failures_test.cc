#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/options.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/storage/store_registry.h"
#include "services/test_server.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

using testing::HasSubstr;

/// Servers on a busy machine may be slow.
const std::map<std::string, std::string> kPatient = {{"timeout", "60s"}};

arrow::Status Read(const OpenedStore& opened) {
  return Wait(opened.store->Get("catalog")).status();
}

arrow::Status Write(const OpenedStore& opened) {
  return Wait(opened.store->PutIfAbsent("catalog", arrow::Buffer::FromString("x"))).status();
}

TEST(CloudFailures, AMissingBucketIsNoMissingObject) {
  TestServer server = *TheTestServer();
  server.uri = server.uri.substr(0, server.uri.find("://")) + "://no-such-bucket";
  INFINO_ASSERT_OK_AND_ASSIGN(const OpenedStore opened, server.Open("p", kPatient));
  std::vector<arrow::Status> failures = {Read(opened)};
  // SeaweedFS makes buckets when somebody with the right to do so writes, and lists missing ones.
  if (server.kind != "seaweedfs") {
    failures.push_back(Write(opened));
    failures.push_back(Wait(opened.store->List("")).status());
  }
  for (const arrow::Status& status : failures) {
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(status.message(), HasSubstr("no-such-bucket"));
    EXPECT_THAT(status.message(), HasSubstr("there is no such"));
  }
}

TEST(CloudFailures, RefusedCredentialsNameTheBucket) {
  const TestServer& server = *TheTestServer();
  std::map<std::string, std::string> wrong = kPatient;
  if (server.kind == "seaweedfs") {
    wrong["aws_secret_access_key"] = "wrong";
  } else if (server.kind == "azurite") {
    wrong["azure_storage_account_key"] = "d3Jvbmc=";
  } else {
    GTEST_SKIP() << server.kind << " checks no credentials";
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const OpenedStore opened, server.Open("p", wrong));
  for (const arrow::Status& status : {Read(opened), Write(opened)}) {
    EXPECT_THAT(status, IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(status.message(), HasSubstr(server.uri));
    EXPECT_THAT(status.message(), HasSubstr("credentials were refused"));
  }
}

TEST(CloudFailures, AnybodyMayReadWhatIsPublic) {
  TestServer server = *TheTestServer();
  if (server.kind != "seaweedfs") GTEST_SKIP() << server.kind << " has no public bucket here";
  server.uri = "s3://public";
  INFINO_ASSERT_OK_AND_ASSIGN(const OpenedStore owner, server.Open("p", kPatient));
  INFINO_ASSERT_OK(Write(owner));
  server.options.erase("aws_access_key_id");
  server.options.erase("aws_secret_access_key");
  server.options["aws_skip_signature"] = "true";
  INFINO_ASSERT_OK_AND_ASSIGN(const OpenedStore anybody, server.Open("p", kPatient));
  INFINO_EXPECT_OK(Read(anybody));
  EXPECT_THAT(Wait(anybody.store->PutIfAbsent("y", arrow::Buffer::FromString("y"))),
              IsError(ErrorKind::kInvalidArgument));
}

/// What reading from `endpoint` comes to, by a connection's tries, and how long it took.
arrow::Status ReadFrom(const std::string& endpoint, std::map<std::string, std::string> more,
                       std::chrono::nanoseconds* took) {
  ConnectOptions connect;
  connect.storage_options = {{"aws_access_key_id", "a"},
                             {"aws_secret_access_key", "b"},
                             {"aws_allow_http", "true"},
                             {"aws_endpoint", endpoint}};
  connect.storage_options.merge(more);
  const std::shared_ptr<Clock> clock = SystemClock();
  ARROW_ASSIGN_OR_RAISE(OpenedStore opened, OpenStore("s3://bkt/p", connect, clock));
  ARROW_ASSIGN_OR_RAISE(opened.store,
                        MakeRetryingStore(std::move(opened.store), clock,
                                          std::make_shared<Random>(TestSeed()), opened.retries));
  const std::chrono::nanoseconds start = clock->Monotonic();
  arrow::Status status = Read(opened);
  *took = clock->Monotonic() - start;
  return status;
}

TEST(CloudFailures, AnUnreachableEndpointFailsInTimeAndIsNamed) {
  // Nobody listens at the first; the second is a network for documentation, where nothing is.
  for (const std::string endpoint : {"http://127.0.0.1:1", "http://192.0.2.1"}) {
    std::chrono::nanoseconds took{};
    const arrow::Status status = ReadFrom(endpoint, {}, &took);
    EXPECT_THAT(status, IsError(ErrorKind::kUnavailable));
    EXPECT_THAT(status.message(), HasSubstr("s3://bkt/p/catalog"));
    EXPECT_THAT(status.message(), HasSubstr(endpoint));
    EXPECT_LT(took, std::chrono::seconds(10));
    const arrow::Status sooner = ReadFrom(endpoint, {{"timeout", "1s"}}, &took);
    EXPECT_THAT(sooner, IsError(ErrorKind::kUnavailable));
    EXPECT_LT(took, std::chrono::seconds(2));
  }
}

}  // namespace
}  // namespace infino
