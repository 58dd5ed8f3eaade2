#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "conformance/object_store_conformance.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/storage/object_store.h"
#include "infino/storage/retrying_store.h"
#include "infino/storage/store_registry.h"
#include "services/test_server.h"
#include "support/matchers.h"
#include "support/seed.h"

namespace infino {
namespace {

/// As connections use it. Each test has a prefix to itself, of a name that needs escaping.
std::shared_ptr<ObjectStore> Cloud(const std::string& /*folder*/) {
  const TestServer* server = TheTestServer();
  if (server == nullptr) {
    ADD_FAILURE() << "run this by with_server.py";
    return nullptr;
  }
  // Servers on a busy machine may be slow, and swaps are not repeated here.
  auto opened = server->Open(TestServer::FreshPrefix() + "/a b+c%20\xc3\xa9", {{"timeout", "60s"}});
  EXPECT_THAT(opened, IsOk());
  if (!opened.ok()) return nullptr;
  const auto made = MakeRetryingStore(std::move(opened->store), SystemClock(),
                                      std::make_shared<Random>(TestSeed()), opened->retries);
  EXPECT_THAT(made, IsOk());
  return made.ValueOr(nullptr);
}

StoreCase ServerCase() {
  StoreCase server{.name = "Server", .make = Cloud};
  const std::string kind = TheTestServer() == nullptr ? "" : TheTestServer()->kind;
  if (kind == "seaweedfs") {
    server.keeps_backslashes = false;
    server.unmet = {{"OfRacingUploadsExactlyOneWins",
                     "SeaweedFS checks If-None-Match of an upload before it completes it, so that "
                     "several may win"}};
  }
  if (kind == "azurite") {
    server.keeps_backslashes = false;
    const std::string why = "Azurite takes blocks that nobody committed for an object";
    server.unmet = {{"AnUploadDoesNotReplaceAnObject", why},
                    {"NothingIsLeftOfAnUploadThatWasGivenUp", why}};
  }
  return server;
}

INSTANTIATE_TEST_SUITE_P(Cloud, ObjectStoreConformance, testing::Values(ServerCase()),
                         [](const testing::TestParamInfo<StoreCase>& one) {
                           return one.param.name;
                         });

}  // namespace
}  // namespace infino
