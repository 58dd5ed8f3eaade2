#pragma once

#include <functional>
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
};

inline void PrintTo(const StoreCase& store, std::ostream* out) {
  *out << store.name;
}

/// What every ObjectStore promises. The tests are in object_store_conformance.cc; to run them for a
/// store, link that file and write INSTANTIATE_TEST_SUITE_P(Name, ObjectStoreConformance, …).
class ObjectStoreConformance : public testing::TestWithParam<StoreCase> {
 protected:
  void SetUp() override {
    store_ = GetParam().make(folder_.path() + "/root");
    ASSERT_NE(store_, nullptr);
  }

  TemporaryFolder folder_;
  std::shared_ptr<ObjectStore> store_;
};

}  // namespace infino
