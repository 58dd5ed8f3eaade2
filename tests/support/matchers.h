#pragma once

#include <ostream>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"

namespace infino {
namespace internal {

inline const arrow::Status& StatusOf(const arrow::Status& status) { return status; }

template <typename T>
const arrow::Status& StatusOf(const arrow::Result<T>& result) {
  return result.status();
}

}  // namespace internal

/// For gtest's messages: the kind by its name.
inline void PrintTo(ErrorKind kind, std::ostream* out) { *out << NameOf(kind); }

namespace testing {

/// Matches a successful Status or Result: EXPECT_THAT(r, IsOk()).
MATCHER(IsOk, negation ? "is a failure" : "is a success") {
  const arrow::Status& status = ::infino::internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return status.ok();
}

/// Matches a Status or Result that failed with `kind`.
MATCHER_P(IsError, kind,
          (negation ? "is no failure of kind " : "is a failure of kind ") +
              std::string(::infino::NameOf(kind))) {
  const arrow::Status& status = ::infino::internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return ::infino::IsError(status, kind);
}

/// Matches a successful Result whose value matches `inner`.
MATCHER_P(HasValue, inner, "has a value that " + ::testing::DescribeMatcher<decltype(*arg)>(inner, negation)) {
  if (!arg.ok()) {
    *result_listener << "whose status is " << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

}  // namespace testing
}  // namespace infino
