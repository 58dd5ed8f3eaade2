#include "infino/catalog/session.h"

#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infino/catalog/runtime.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/storage/memory_store.h"
#include "support/matchers.h"

namespace infino {
namespace {

std::shared_ptr<Session> MakeSession() {
  const std::shared_ptr<ObjectStore> store = MakeMemoryStore(SystemClock());
  const PartsSource source = [store]() -> arrow::Result<RuntimeParts> {
    return RuntimeParts{.store = store, .clock = SystemClock(), .random = Random::FromSystem()};
  };
  return Session::Make("memory://", source, {}).ValueOrDie();
}

TEST(Session, KeepsOneRuntimeInAProcess) {
  const std::shared_ptr<Session> session = MakeSession();
  EXPECT_EQ(session->runtime().ValueOrDie(), session->runtime().ValueOrDie());
}

TEST(Session, SharesAnOpenedTableUntilItIsForgotten) {
  const std::shared_ptr<Session> session = MakeSession();
  Runtime* runtime = session->runtime().ValueOrDie();
  const std::shared_ptr<OpenedTable> table = runtime->Table("docs-1");
  EXPECT_EQ(runtime->Table("docs-1"), table);
  EXPECT_NE(runtime->Table("docs-2"), table);
  runtime->Forget("docs-1");
  EXPECT_NE(runtime->Table("docs-1"), table);
}

TEST(Session, MakesANewRuntimeInAForkedChild) {
  std::shared_ptr<Session> session = MakeSession();
  Runtime* const parents = session->runtime().ValueOrDie();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const arrow::Result<Runtime*> own = session->runtime();
    const bool is_new = own.ok() && *own != parents && *own == *session->runtime();
    session.reset();  // Takes down the child's own runtime only.
    _exit(is_new ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(session->runtime().ValueOrDie(), parents);
}

TEST(Session, CanBeLetGoInAForkedChildThatNeverUsedIt) {
  std::shared_ptr<Session> session = MakeSession();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    session.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace infino
