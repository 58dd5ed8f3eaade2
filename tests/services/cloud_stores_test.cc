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
  auto opened = server->Open(TestServer::FreshPrefix() + "/a b+c%20\xc3\xa9");
  EXPECT_THAT(opened, IsOk());
  if (!opened.ok()) return nullptr;
  const auto made = MakeRetryingStore(std::move(opened->store), SystemClock(),
                                      std::make_shared<Random>(TestSeed()), opened->retries);
  EXPECT_THAT(made, IsOk());
  return made.ValueOr(nullptr);
}

INSTANTIATE_TEST_SUITE_P(Cloud, ObjectStoreConformance,
                         testing::Values(StoreCase{.name = "Server", .make = Cloud}),
                         [](const testing::TestParamInfo<StoreCase>& one) {
                           return one.param.name;
                         });

}  // namespace
}  // namespace infino
