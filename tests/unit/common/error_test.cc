#include "infino/error.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <arrow/status.h>
#include <arrow/util/cancel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/wait.h"
#include "infino/options.h"
#include "support/matchers.h"

namespace infino {
namespace {

constexpr ErrorKind kKinds[] = {
    ErrorKind::kInvalidArgument,   ErrorKind::kNotFound,      ErrorKind::kAlreadyExists,
    ErrorKind::kConflict,          ErrorKind::kCommitUnknown, ErrorKind::kUnavailable,
    ErrorKind::kResourceExhausted, ErrorKind::kCorrupt,       ErrorKind::kUnsupportedVersion,
    ErrorKind::kCancelled,         ErrorKind::kInternal};

TEST(Error, KeepsItsKindAndMessage) {
  std::set<std::string_view> names;
  for (const ErrorKind kind : kKinds) {
    const arrow::Status status = MakeError(kind, "what went wrong");
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(KindOf(status), kind);
    EXPECT_THAT(status, IsError(kind));
    EXPECT_EQ(status.message(), "what went wrong");
    names.insert(NameOf(kind));
  }
  EXPECT_EQ(names.size(), std::size(kKinds));
}

TEST(Error, SuccessAndForeignStatusesHaveNoKind) {
  EXPECT_EQ(KindOf(arrow::Status::OK()), std::nullopt);
  EXPECT_EQ(KindOf(arrow::Status::IOError("x")), std::nullopt);
  EXPECT_FALSE(IsError(arrow::Status::OK(), ErrorKind::kInternal));
}

TEST(Error, ForeignStatusGetsAKindAndContext) {
  const arrow::Status status = FromForeign(arrow::Status::IOError("gone"), "reading a.parquet");
  EXPECT_THAT(status, IsError(ErrorKind::kUnavailable));
  EXPECT_EQ(status.message(), "reading a.parquet: gone");
  EXPECT_THAT(FromForeign(arrow::Status::OutOfMemory("x"), "y"),
              IsError(ErrorKind::kResourceExhausted));
  INFINO_EXPECT_OK(FromForeign(arrow::Status::OK(), "reading"));
}

TEST(Error, ForeignDetailIsKeptInTheMessage) {
  class Detail final : public arrow::StatusDetail {
   public:
    [[nodiscard]] const char* type_id() const override { return "theirs"; }

    [[nodiscard]] std::string ToString() const override { return "[errno 28] no space left"; }
  };

  const arrow::Status foreign(arrow::StatusCode::IOError, "cannot write",
                              std::make_shared<Detail>());
  EXPECT_EQ(FromForeign(foreign, "saving").message(),
            "saving: cannot write. [errno 28] no space left");
}

TEST(Error, StatusOfOursKeepsItsKindUnderContext) {
  const arrow::Status status =
      FromForeign(MakeError(ErrorKind::kCorrupt, "bad magic"), "opening a.parquet");
  EXPECT_THAT(status, IsError(ErrorKind::kCorrupt));
  EXPECT_EQ(status.message(), "opening a.parquet: bad magic");
}

TEST(CheckStop, AsksTheTokenAndThePoll) {
  INFINO_EXPECT_OK(CheckStop({}));
  arrow::StopSource source;
  const StopCondition by_token{.token = source.token(), .poll = {}};
  INFINO_EXPECT_OK(CheckStop(by_token));
  source.RequestStop();
  EXPECT_THAT(CheckStop(by_token), IsError(ErrorKind::kCancelled));
  const StopCondition by_poll{.poll = [] { return true; }};
  EXPECT_THAT(CheckStop(by_poll), IsError(ErrorKind::kCancelled));
}

TEST(Wait, EndsWhenThePollSaysSo) {
  int polls = 0;
  const StopCondition stop{.poll = [&polls] { return ++polls == 2; }};
  EXPECT_THAT(WaitDone(arrow::Future<>::Make(), stop), IsError(ErrorKind::kCancelled));
  EXPECT_EQ(polls, 2);
  EXPECT_THAT(Wait(arrow::Future<int>::MakeFinished(3)), HasValue(3));
}

}  // namespace
}  // namespace infino
