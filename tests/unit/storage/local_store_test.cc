#include "infino/storage/local_store.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/util/future.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/common/content_hash.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/storage/file_lock.h"
#include "infino/storage/object_store.h"
#include "support/matchers.h"
#include "support/temporary_folder.h"

namespace infino {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<arrow::Buffer> Bytes(std::string text) {
  return arrow::Buffer::FromString(std::move(text));
}

void WriteFile(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

class LocalStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = folder_.path() + "/root";
    store_ = Open();
  }

  std::shared_ptr<ObjectStore> Open() {
    auto opened = OpenLocalStore(root_, {.counters = counters_});
    EXPECT_THAT(opened, IsOk());
    return opened.ValueOr(nullptr);
  }

  ObjectVersion PutFirst(const std::string& path, std::string text) {
    const arrow::Result<PutResult> put = Wait(store_->PutIfAbsent(path, Bytes(std::move(text))));
    EXPECT_THAT(put, IsOk());
    return put.ok() ? put->version : ObjectVersion();
  }

  std::vector<std::string> Listed() {
    std::vector<std::string> paths;
    const arrow::Result<std::vector<ObjectInfo>> infos = Wait(store_->List(""));
    EXPECT_THAT(infos, IsOk());
    if (infos.ok()) {
      for (const ObjectInfo& info : *infos) paths.push_back(info.path);
    }
    return paths;
  }

  std::vector<std::string> FilesOnDisk() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_)) {
      files.push_back(entry.path().lexically_relative(root_).string());
    }
    return files;
  }

  int64_t SyncsOf(const auto& work) {
    const int64_t before = counters_->fsync_count;
    work();
    return counters_->fsync_count - before;
  }

  TemporaryFolder folder_;
  std::string root_;
  std::shared_ptr<LocalStoreCounters> counters_ = std::make_shared<LocalStoreCounters>();
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(LocalStoreTest, TheVersionIsTheContentHash) {
  const ObjectVersion version = PutFirst("a", "fox");
  EXPECT_EQ(version.token, Blake3(AsBytes("fox")).ToHex());
}

TEST_F(LocalStoreTest, APutSyncsFileAndFolder) {
  EXPECT_EQ(SyncsOf([&] { PutFirst("a", "1"); }), 2);
}

TEST_F(LocalStoreTest, ANewFolderSyncsItsParentOnce) {
  // The file; t/data; t and the root, which got a new entry each.
  EXPECT_EQ(SyncsOf([&] { PutFirst("t/data/a", "1"); }), 4);
  EXPECT_EQ(SyncsOf([&] { PutFirst("t/data/b", "1"); }), 2);
}

TEST_F(LocalStoreTest, PutAllSyncsEachFileAndEachFolderOnce) {
  PutFirst("t/data/0", "0");
  PutFirst("t/manifest/0", "0");
  std::vector<StagedObject> objects;
  for (int i = 1; i <= 10; ++i) {
    objects.push_back({.path = "t/data/" + std::to_string(i), .bytes = Bytes("x")});
    objects.push_back({.path = "t/manifest/" + std::to_string(i), .bytes = Bytes("x")});
  }
  EXPECT_EQ(SyncsOf([&] { INFINO_EXPECT_OK(Wait(store_->PutAllIfAbsent(objects))); }), 20 + 2);
  // Two new folders in t: their parent once, which also is the folder of an object.
  EXPECT_EQ(
      SyncsOf([&] {
        INFINO_EXPECT_OK(Wait(store_->PutAllIfAbsent({{.path = "t/new/a", .bytes = Bytes("x")},
                                                      {.path = "t/newer/a", .bytes = Bytes("x")},
                                                      {.path = "t/b", .bytes = Bytes("x")}})));
      }),
      3 + 3);
}

TEST_F(LocalStoreTest, ASwapSyncsFileAndFolder) {
  const ObjectVersion version = PutFirst("t/current", "1");
  EXPECT_EQ(SyncsOf([&] {
              INFINO_EXPECT_OK(Wait(store_->PutIfMatch("t/current", Bytes("2"), version)));
            }),
            2);
  EXPECT_EQ(SyncsOf([&] {
              INFINO_EXPECT_OK(Wait(store_->PutIfMatch("t/current", Bytes("3"), version)));
            }),
            0);
}

TEST_F(LocalStoreTest, LeftoversOfACrashAreNotListedAndCanBeCleared) {
  PutFirst("t/a", "1");
  WriteFile(root_ + "/t/.tmp-123-0-9", "half of an obj");
  WriteFile(root_ + "/.tmp-9-9", "");
  EXPECT_THAT(Listed(), ElementsAre("t/a"));
  EXPECT_THAT(RemoveStaleTemporaries(root_, 3'600'000), HasValue(0));
  EXPECT_THAT(RemoveStaleTemporaries(root_, -1000), HasValue(2));
  EXPECT_THAT(FilesOnDisk(), testing::UnorderedElementsAre("t", "t/a"));
}

TEST_F(LocalStoreTest, WritesLeaveNothingButTheirObjects) {
  const ObjectVersion version = PutFirst("t/current", "1");
  INFINO_ASSERT_OK(Wait(store_->PutIfAbsent("t/current", Bytes("2"))));
  INFINO_ASSERT_OK(Wait(store_->PutIfMatch("t/current", Bytes("2"), version)));
  INFINO_ASSERT_OK(Wait(store_->PutIfMatch("t/current", Bytes("3"), version)));
  EXPECT_THAT(FilesOnDisk(), testing::UnorderedElementsAre("t", "t/current", "t/.lock"));
  EXPECT_THAT(Listed(), ElementsAre("t/current"));
}

TEST_F(LocalStoreTest, DeletingTheLastObjectRemovesFoldersAndLock) {
  const ObjectVersion version = PutFirst("t/_supertable/current", "1");
  PutFirst("t/data/x", "1");
  INFINO_ASSERT_OK(Wait(store_->PutIfMatch("t/_supertable/current", Bytes("2"), version)));
  INFINO_ASSERT_OK(WaitDone(store_->Delete("t/_supertable/current")));
  EXPECT_THAT(FilesOnDisk(), testing::UnorderedElementsAre("t", "t/data", "t/data/x"));
  INFINO_ASSERT_OK(WaitDone(store_->Delete("t/data/x")));
  EXPECT_THAT(FilesOnDisk(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_directory(root_));
}

TEST_F(LocalStoreTest, AStrangersEditIsNoticed) {
  const ObjectVersion version = PutFirst("current", "one");
  WriteFile(root_ + "/current", "two");
  INFINO_ASSERT_OK_AND_ASSIGN(const std::optional<VersionedBytes> news,
                              Wait(store_->GetIfChanged("current", version)));
  ASSERT_TRUE(news.has_value());
  EXPECT_EQ(news->bytes->ToString(), "two");
}

/// Gives a file the modification time `ns` (Unix).
void SetModified(const std::string& path, int64_t ns) {
  const timespec time{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  const timespec times[2] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(LocalStoreTest, AChangeWithinOneTickOfTheFileClockIsNoticed) {
  // Same inode, same size, and quick enough that both writes often get one stamp.
  const std::string file = root_ + "/current";
  WriteFile(file, "one");
  for (int i = 0; i < 200; ++i) {
    const std::string text = i % 2 == 0 ? "two" : "one";
    INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes before, Wait(store_->Get("current")));
    std::ofstream(file, std::ios::binary | std::ios::in) << text;
    INFINO_ASSERT_OK_AND_ASSIGN(const std::optional<VersionedBytes> news,
                                Wait(store_->GetIfChanged("current", before.version)));
    ASSERT_TRUE(news.has_value()) << i;
    ASSERT_EQ(news->bytes->ToString(), text);
  }
}

TEST_F(LocalStoreTest, ASettledObjectIsTheSameUntilItsBytesChange) {
  const ObjectVersion version = PutFirst("current", "one");
  const std::string file = root_ + "/current";
  SystemClock()->Sleep(std::chrono::milliseconds(150));
  INFINO_ASSERT_OK(Wait(store_->Get("current")));
  for (int i = 0; i < 3; ++i) {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto news, Wait(store_->GetIfChanged("current", version)));
    EXPECT_FALSE(news.has_value());
  }
  SetModified(file, 1'000'000'000);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto touched, Wait(store_->GetIfChanged("current", version)));
  EXPECT_FALSE(touched.has_value()) << "touched, but its bytes are the same";
}

/// Swaps the counter at "t/current" up by one, `count` times; false on a failure.
bool Increment(const std::string& root, int count) {
  const auto store = OpenLocalStore(root);
  if (!store.ok()) return false;
  for (int done = 0; done < count;) {
    const arrow::Result<VersionedBytes> now = Wait((*store)->Get("t/current"));
    if (!now.ok()) return false;
    const std::string next = std::to_string(std::stoi(now->bytes->ToString()) + 1);
    const arrow::Result<PutResult> put =
        Wait((*store)->PutIfMatch("t/current", Bytes(next), now->version));
    if (!put.ok()) return false;
    if (put->outcome == PutOutcome::kWritten) ++done;
  }
  return true;
}

bool ExitedWell(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(LocalStoreTest, ProcessesSwapOneAfterTheOther) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 25;
  PutFirst("t/current", "0");
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(Increment(root_, kEach) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) EXPECT_TRUE(ExitedWell(child));
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes got, Wait(store_->Get("t/current")));
  EXPECT_EQ(got.bytes->ToString(), std::to_string(kProcesses * kEach));
}

TEST_F(LocalStoreTest, AStoreWorksInAForkedChild) {
  PutFirst("before", "1");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool wrote = Wait(store_->PutIfAbsent("in child", Bytes("2"))).ok();
    _exit(wrote && Wait(store_->Get("before")).ok() ? 0 : 1);
  }
  EXPECT_TRUE(ExitedWell(child));
  INFINO_EXPECT_OK(Wait(store_->Get("in child")));
}

TEST_F(LocalStoreTest, ALockDiesWithItsProcessThoughAForkedChildLivesOn) {
  const std::string lock_file = folder_.path() + "/lock";
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t holder = fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    auto lock = internal::FileLock::Acquire(lock_file, 1000);
    const pid_t bystander = fork();
    if (bystander == 0) {
      close(ready[0]);
      close(ready[1]);
      for (;;) pause();
    }
    if (write(ready[1], &bystander, sizeof(bystander)) != sizeof(bystander)) _exit(1);
    for (;;) pause();
  }
  pid_t bystander = 0;
  ASSERT_EQ(read(ready[0], &bystander, sizeof(bystander)), ssize_t{sizeof(bystander)});
  EXPECT_THAT(internal::FileLock::Acquire(lock_file, 20), IsError(ErrorKind::kUnavailable));
  ASSERT_EQ(kill(holder, SIGKILL), 0);
  ASSERT_EQ(waitpid(holder, nullptr, 0), holder);
  EXPECT_THAT(internal::FileLock::Acquire(lock_file, 1000), IsOk());
  kill(bystander, SIGKILL);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(LocalStoreTest, ALockOnADeletedFileDoesNotCount) {
  const std::string lock_file = folder_.path() + "/lock";
  INFINO_ASSERT_OK_AND_ASSIGN(const auto first, internal::FileLock::Acquire(lock_file, 0));
  EXPECT_THAT(internal::FileLock::Acquire(lock_file, 5), IsError(ErrorKind::kUnavailable));
  ASSERT_EQ(unlink(lock_file.c_str()), 0);
  // A new file of that name is another lock; who waited on the old file must not get it.
  INFINO_ASSERT_OK_AND_ASSIGN(const auto second, internal::FileLock::Acquire(lock_file, 0));
  EXPECT_THAT(internal::FileLock::Acquire(lock_file, 5), IsError(ErrorKind::kUnavailable));
  EXPECT_THAT(internal::FileLock::Acquire(folder_.path() + "/no/lock", 0),
              IsError(ErrorKind::kNotFound));
}

TEST_F(LocalStoreTest, AnObjectOverTwoGibibytesIsReadAnywhere) {
  constexpr int64_t kSize = (int64_t{5} << 30) + 3;
  const std::string file = root_ + "/huge";
  WriteFile(file, "");
  std::filesystem::resize_file(file, kSize);  // All holes.
  {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(kSize - 4);
    out << "last";
  }
  INFINO_ASSERT_OK_AND_ASSIGN(const ObjectInfo info, Wait(store_->Head("huge")));
  EXPECT_EQ(info.size, kSize);
  INFINO_ASSERT_OK_AND_ASSIGN(const auto end,
                              Wait(store_->GetRange("huge", {.offset = kSize - 6, .length = 6})));
  EXPECT_EQ(end->ToString(), std::string("\0\0last", 6));
  EXPECT_THAT(Wait(store_->GetRange("huge", {.offset = kSize - 6, .length = 7})),
              IsError(ErrorKind::kCorrupt));
}

TEST_F(LocalStoreTest, AReadOnlyFolderIsUnavailableAndNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  std::filesystem::permissions(root_, std::filesystem::perms::owner_read);
  const auto put = Wait(store_->PutIfAbsent("a", Bytes("x")));
  std::filesystem::permissions(root_, std::filesystem::perms::owner_all);
  EXPECT_THAT(put, IsError(ErrorKind::kUnavailable));
  EXPECT_THAT(put.status().message(), testing::HasSubstr(root_));
}

TEST_F(LocalStoreTest, AnObjectInTheWayOfAFolderIsInvalid) {
  PutFirst("a", "1");
  EXPECT_THAT(Wait(store_->PutIfAbsent("a/b", Bytes("2"))), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(LocalStoreTest, TheStoreMayBeLetGoByItsOwnContinuation) {
  auto other = arrow::Future<>::Make();
  {
    std::shared_ptr<ObjectStore> store = Open();
    std::vector<StagedObject> objects;
    for (int i = 0; i < 20; ++i) {
      objects.push_back({.path = "x" + std::to_string(i), .bytes = Bytes("x")});
    }
    auto put = store->PutAllIfAbsent(std::move(objects));
    put.AddCallback([store = std::move(store), other](const auto&) mutable {
      store.reset();
      other.MarkFinished();
    });
  }
  INFINO_EXPECT_OK(WaitDone(other));
  EXPECT_EQ(Listed().size(), 20);
}

}  // namespace
}  // namespace infino
