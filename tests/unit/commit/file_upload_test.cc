#include "infino/commit/file_upload.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/status.h>
#include <arrow/util/functional.h>
#include <arrow/util/future.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "infino/common/bytes.h"
#include "infino/common/clock.h"
#include "infino/common/random.h"
#include "infino/common/scratch.h"
#include "infino/common/wait.h"
#include "infino/error.h"
#include "infino/storage/memory_store.h"
#include "infino/storage/object_store.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/matchers.h"
#include "support/memory_scratch.h"
#include "support/seed.h"

namespace infino {
namespace {

using Task = arrow::internal::FnOnce<void()>;

const std::string kPath = "data/long";

std::vector<uint8_t> RandomBytes(int64_t size) {
  Random random(TestSeed());
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % sizeof(word) == 0) word = random.Next();
    bytes[i] = static_cast<uint8_t>(word >> (8 * (i % sizeof(word))));
  }
  return bytes;
}

arrow::Status RunAtOnce(Task task) {
  std::move(task)();
  return arrow::Status::OK();
}

/// A store whose parts are sent when the test says so.
class SlowPartsStore final : public ForwardingStore {
 public:
  struct Part {
    int64_t number = 0;
    std::shared_ptr<arrow::Buffer> bytes;
    arrow::Future<> sent;
  };

  explicit SlowPartsStore(std::shared_ptr<ObjectStore> store) : ForwardingStore(std::move(store)) {}

  arrow::Future<std::shared_ptr<ObjectUpload>> BeginUpload(std::string_view path) override {
    return ForwardingStore::BeginUpload(path).Then(
        [this](const std::shared_ptr<ObjectUpload>& upload) -> std::shared_ptr<ObjectUpload> {
          upload_ = upload;
          return std::make_shared<Upload>(*this);
        });
  }

  [[nodiscard]] const std::vector<Part>& waiting() const { return waiting_; }

  /// Sends the part that waits as number `i`.
  void Send(size_t i) {
    const Part part = waiting_[i];
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
    arrow::Future<> sent = part.sent;
    sent.MarkFinished(WaitDone(upload_->PutPart(part.number, part.bytes)));
  }

 private:
  class Upload final : public ObjectUpload {
   public:
    explicit Upload(SlowPartsStore& store) : store_(store) {}

    arrow::Future<> PutPart(int64_t number, std::shared_ptr<arrow::Buffer> bytes) override {
      store_.waiting_.push_back(
          {.number = number, .bytes = std::move(bytes), .sent = arrow::Future<>::Make()});
      return store_.waiting_.back().sent;
    }

    arrow::Future<PutOutcome> Complete(int64_t part_count) override {
      return store_.upload_->Complete(part_count);
    }

    arrow::Future<> Abort() override { return store_.upload_->Abort(); }

   private:
    SlowPartsStore& store_;
  };

  std::shared_ptr<ObjectUpload> upload_;
  std::vector<Part> waiting_;
};

class FileUpload : public ::testing::Test {
 protected:
  std::shared_ptr<const ScratchFile> FileOf(const std::vector<uint8_t>& bytes) {
    std::unique_ptr<ScratchFile> file = scratch_->NewFile().ValueOrDie();
    INFINO_EXPECT_OK(file->Append(bytes));
    return file;
  }

  arrow::Result<PutOutcome> Upload(const std::vector<uint8_t>& bytes, int parts_in_memory = 2) {
    return Wait(UploadFile(faulty_, kPath, FileOf(bytes),
                           {.spawn = RunAtOnce, .parts_in_memory = parts_in_memory}));
  }

  void ExpectNothing() {
    INFINO_ASSERT_OK_AND_ASSIGN(const auto listed, Wait(memory_->List("")));
    EXPECT_THAT(listed, testing::IsEmpty());
    EXPECT_EQ(scratch_->open_files(), 0);
  }

  void ExpectContent(const std::vector<uint8_t>& bytes) {
    INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes found, Wait(memory_->Get(kPath)));
    EXPECT_TRUE(std::ranges::equal(std::string_view(*found.bytes), AsText(bytes)));
    EXPECT_EQ(scratch_->open_files(), 0);
  }

  std::shared_ptr<ObjectStore> memory_ =
      MakeMemoryStore(std::make_shared<ManualClock>(1'700'000'000'000));
  std::shared_ptr<FaultyStore> faulty_ =
      std::make_shared<FaultyStore>(memory_, TestSeed(), FaultPlan());
  std::shared_ptr<MemoryScratch> scratch_ = std::make_shared<MemoryScratch>();
};

TEST_F(FileUpload, SendsFilesOfAnyLength) {
  for (const int64_t size : {int64_t{1}, kUploadPartBytes - 1, kUploadPartBytes,
                             kUploadPartBytes + 1, 3 * kUploadPartBytes}) {
    for (const int parts_in_memory : {1, 4}) {
      const std::vector<uint8_t> bytes = RandomBytes(size);
      EXPECT_THAT(Upload(bytes, parts_in_memory), HasValue(PutOutcome::kWritten));
      ExpectContent(bytes);
      INFINO_ASSERT_OK(WaitDone(memory_->Delete(kPath)));
    }
  }
}

TEST_F(FileUpload, HasAsManyPartsInMemoryAsItMay) {
  const auto slow = std::make_shared<SlowPartsStore>(memory_);
  const std::vector<uint8_t> bytes = RandomBytes(5 * kUploadPartBytes - 7);
  for (const size_t parts_in_memory : {1U, 2U}) {
    const arrow::Future<PutOutcome> done =
        UploadFile(slow, kPath, FileOf(bytes),
                   {.spawn = RunAtOnce, .parts_in_memory = static_cast<int>(parts_in_memory)});
    for (size_t sent = 0; sent < 5; ++sent) {
      EXPECT_FALSE(done.is_finished());
      EXPECT_EQ(slow->waiting().size(), std::min(parts_in_memory, 5 - sent));
      // The one that came last goes first.
      slow->Send(slow->waiting().size() - 1);
    }
    EXPECT_THAT(Wait(done), HasValue(PutOutcome::kWritten));
    ExpectContent(bytes);
    INFINO_ASSERT_OK(WaitDone(memory_->Delete(kPath)));
  }
}

TEST_F(FileUpload, LeavesATakenPathAsItIs) {
  INFINO_ASSERT_OK(Wait(memory_->PutIfAbsent(kPath, arrow::Buffer::FromString("first"))));
  EXPECT_THAT(Upload(RandomBytes(100)), HasValue(PutOutcome::kPreconditionFailed));
  INFINO_ASSERT_OK_AND_ASSIGN(const VersionedBytes found, Wait(memory_->Get(kPath)));
  EXPECT_EQ(found.bytes->ToString(), "first");
}

TEST_F(FileUpload, LeavesNothingBehindWhicheverCallFails) {
  const std::vector<uint8_t> bytes = RandomBytes(2 * kUploadPartBytes + 1);
  // Begin, three parts, complete.
  for (size_t failing = 0; failing < 5; ++failing) {
    faulty_->FailCall(faulty_->call_count() + failing, {.fail_before = 1});
    EXPECT_THAT(Upload(bytes), IsError(ErrorKind::kUnavailable)) << failing;
    ExpectNothing();
  }
  EXPECT_THAT(Upload(bytes), HasValue(PutOutcome::kWritten));
}

TEST_F(FileUpload, EndsWhenTheFileCantBeRead) {
  for (int64_t reads = 0; reads < 2; ++reads) {
    scratch_ = std::make_shared<MemoryScratch>(MemoryScratch::Plan{.reads_max = reads});
    EXPECT_THAT(Upload(RandomBytes(kUploadPartBytes + 1)), IsError(ErrorKind::kUnavailable));
    ExpectNothing();
  }
}

TEST_F(FileUpload, EndsWhenItsTasksAreRefused) {
  for (int allowed = 0; allowed < 3; ++allowed) {
    const auto spawn = [left = allowed](Task task) mutable {
      if (left-- == 0) return MakeError(ErrorKind::kCancelled, "no more");
      return RunAtOnce(std::move(task));
    };
    const std::vector<uint8_t> bytes = RandomBytes(2 * kUploadPartBytes);
    EXPECT_THAT(
        Wait(UploadFile(faulty_, kPath, FileOf(bytes), {.spawn = spawn, .parts_in_memory = 1})),
        IsError(ErrorKind::kCancelled));
    ExpectNothing();
  }
}

}  // namespace
}  // namespace infino
