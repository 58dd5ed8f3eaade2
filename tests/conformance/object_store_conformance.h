#pragma once

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "infino/storage/object_store.h"
#include "support/temporary_folder.h"

namespace infino {

/// One store, or one wrapper round a store, that the suite is run for.
struct StoreCase {
  std::string name;  ///< Letters and digits.

  /// Makes an empty store; a store of files keeps them in `folder`.
  std::function<std::shared_ptr<ObjectStore>(const std::string& folder)> make;

  /// Tests that a server is known to fail, and why: they are skipped, and say so.
  std::map<std::string, std::string> unmet = {};

  /// False where a server takes a backslash for a slash.
  bool keeps_backslashes = true;
};

inline void PrintTo(const StoreCase& store, std::ostream* out) {
  *out << store.name;
}

/// What every ObjectStore promises. The tests are in object_store_conformance.cc; to run them for a
/// store, link that file and write INSTANTIATE_TEST_SUITE_P(Name, ObjectStoreConformance, …).
class ObjectStoreConformance : public testing::TestWithParam<StoreCase> {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto unmet = GetParam().unmet.find(test.substr(0, test.find('/')));
    if (unmet != GetParam().unmet.end()) GTEST_SKIP() << unmet->second;
    store_ = GetParam().make(folder_.path() + "/root");
    ASSERT_NE(store_, nullptr);
  }

  TemporaryFolder folder_;
  std::shared_ptr<ObjectStore> store_;
};

}  // namespace infino
