#pragma once

#include <ostream>
#include <string>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/error.h"

namespace infino {
namespace internal {

inline const arrow::Status& StatusOf(const arrow::Status& status) {
  return status;
}

template <typename T>
const arrow::Status& StatusOf(const arrow::Result<T>& result) {
  return result.status();
}

}  // namespace internal

/// How a failed expectation prints a kind.
inline void PrintTo(ErrorKind kind, std::ostream* out) {
  *out << NameOf(kind);
}

/// Matches a successful Status or Result: EXPECT_THAT(result, IsOk()).
MATCHER(IsOk, negation ? "is a failure" : "is a success") {
  const arrow::Status& status = internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return status.ok();
}

/// Matches a Status or Result that failed with `kind`.
MATCHER_P(IsError, kind,
          std::string(negation ? "is no failure of kind " : "is a failure of kind ") +
              std::string(NameOf(kind))) {
  const arrow::Status& status = internal::StatusOf(arg);
  *result_listener << "whose status is " << status.ToString();
  return ::infino::IsError(status, kind);
}

/// Matches a successful Result whose value matches `inner`, a value or a matcher.
MATCHER_P(HasValue, inner,
          std::string(negation ? "has no value as expected" : "has the expected value")) {
  if (!arg.ok()) {
    *result_listener << "whose status is " << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

}  // namespace infino

#define INFINO_ASSERT_OK(expression) ASSERT_THAT((expression), ::infino::IsOk())
#define INFINO_EXPECT_OK(expression) EXPECT_THAT((expression), ::infino::IsOk())

/// Assigns the value of a Result to `lhs`, which may be a declaration, or ends the test.
#define INFINO_ASSERT_OK_AND_ASSIGN(lhs, expression) \
  INFINO_ASSERT_OK_AND_ASSIGN_AS(INFINO_TEST_NAME(infino_result_, __COUNTER__), lhs, expression)

#define INFINO_TEST_NAME(left, right) INFINO_TEST_JOIN(left, right)
#define INFINO_TEST_JOIN(left, right) left##right
#define INFINO_ASSERT_OK_AND_ASSIGN_AS(result, lhs, expression) \
  auto result = (expression);                                   \
  ASSERT_THAT(result, ::infino::IsOk());                        \
  lhs = std::move(result).ValueUnsafe()
