#include "services/test_server.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include <arrow/result.h>

#include "infino/common/clock.h"
#include "infino/options.h"
#include "infino/storage/store_registry.h"

namespace infino {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any.
  return value == nullptr ? "" : value;
}

std::unique_ptr<TestServer> FromEnvironment() {
  auto server = std::make_unique<TestServer>();
  server->kind = Variable("INFINO_TEST_SERVER");
  server->uri = Variable("INFINO_TEST_URI");
  std::istringstream lines(Variable("INFINO_TEST_OPTIONS"));
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    server->options[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return server->uri.empty() ? nullptr : std::move(server);
}

}  // namespace

arrow::Result<OpenedStore> TestServer::Open(
    const std::string& below, const std::map<std::string, std::string>& changes) const {
  ConnectOptions connect;
  connect.storage_options = options;
  for (const auto& [key, value] : changes) connect.storage_options[key] = value;
  return OpenStore(uri + "/" + below, connect, SystemClock());
}

std::string TestServer::FreshPrefix() {
  static std::atomic<int> count = 0;
  return "tests/" + std::to_string(count++);
}

const TestServer* TheTestServer() {
  static const std::unique_ptr<TestServer> kServer = FromEnvironment();
  return kServer.get();
}

}  // namespace infino
