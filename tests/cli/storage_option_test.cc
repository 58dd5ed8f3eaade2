// How the command is told to reach a bucket.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_test.h"

namespace infino::cli {
namespace {

using ::testing::HasSubstr;

class StorageOption : public CommandTest {};

TEST_F(StorageOption, ReachesTheStore) {
  const Outcome unknown = Run({"tables", "s3://b/p", "--storage-option", "aws_regoin=x"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.errors, HasSubstr("'aws_regoin'"));
  EXPECT_THAT(unknown.errors, HasSubstr("aws_region?"));
}

TEST_F(StorageOption, MayBeGivenSeveralTimesAndAnywhere) {
  const Outcome unreachable =
      Run({"--storage-option", "aws_endpoint=http://127.0.0.1:1", "tables", "s3://b/p",
           "--storage-option", "aws_allow_http=true", "--storage-option", "timeout=300ms",
           "--storage-option", "aws_skip_signature=true"});
  EXPECT_EQ(unreachable.exit_code, 1);
  EXPECT_THAT(unreachable.errors, HasSubstr("s3://b/p/_catalog/current"));
  EXPECT_THAT(unreachable.errors, HasSubstr("http://127.0.0.1:1"));
}

TEST_F(StorageOption, HasAKeyAndAValue) {
  const Outcome refused = Run({"tables", "$DB", "--storage-option", "aws_region"});
  EXPECT_GT(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("KEY=VALUE"));
}

}  // namespace
}  // namespace infino::cli
