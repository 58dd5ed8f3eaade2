#include "infino/common/fork.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infino/common/failpoint.h"
#include "infino/common/random.h"

namespace infino {
namespace {

int ExitCodeOfChild(pid_t child) {
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(Fork, ChildIsAGenerationOlderThanItsParent) {
  const uint64_t before = ForkGeneration();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(ForkGeneration() == before + 1 ? 0 : 1);
  EXPECT_EQ(ExitCodeOfChild(child), 0);
  EXPECT_EQ(ForkGeneration(), before);
}

TEST(Fork, ChildDrawsOtherRandomNumbersThanItsParent) {
  const auto random = Random::FromSystem();
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const uint64_t drawn = random->Next();
    _exit(write(ends[1], &drawn, sizeof(drawn)) == sizeof(drawn) ? 0 : 1);
  }
  EXPECT_EQ(ExitCodeOfChild(child), 0);
  uint64_t of_child = 0;
  ASSERT_EQ(read(ends[0], &of_child, sizeof(of_child)), static_cast<ssize_t>(sizeof(of_child)));
  EXPECT_NE(of_child, random->Next());
  close(ends[0]);
  close(ends[1]);
}

TEST(Failpoint, CallsTheHookUntilItIsRemoved) {
  std::vector<std::string> reached;
  SetFailpointHook([&reached](std::string_view name) { reached.emplace_back(name); });
  INFINO_FAILPOINT("one");
  INFINO_FAILPOINT("two");
  SetFailpointHook({});
  INFINO_FAILPOINT("three");
#if defined(INFINO_FAILPOINTS)
  EXPECT_EQ(reached, (std::vector<std::string>{"one", "two"}));
#else
  EXPECT_TRUE(reached.empty());
#endif
}

}  // namespace
}  // namespace infino
