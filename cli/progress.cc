#include "cli/progress.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <unistd.h>

#include "infino/common/clock.h"
#include "infino/table.h"

namespace infino::cli {

ProgressBar::ProgressBar(std::string label, uint64_t total_rows, bool wanted)
    : label_(std::move(label)),
      total_rows_(total_rows),
      drawn_(wanted && isatty(STDERR_FILENO) != 0),
      clock_(SystemClock()),
      started_(clock_->Monotonic()) {}

void ProgressBar::Update(const AppendProgress& progress) {
  constexpr std::chrono::milliseconds kInterval(100);
  constexpr uint64_t kCells = 30;
  const std::chrono::nanoseconds now = clock_->Monotonic();
  if (!drawn_ || now - drawn_at_ < kInterval) return;
  drawn_at_ = now;
  std::string line = label_ + " ";
  if (total_rows_ > 0) {
    const uint64_t done = std::min(progress.rows_read, total_rows_) * kCells / total_rows_;
    line += "[" + std::string(done, '#') + std::string(kCells - done, '.') + "] " +
            std::to_string(100 * std::min(progress.rows_read, total_rows_) / total_rows_) + " % ";
  }
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const auto rate =
      static_cast<uint64_t>(static_cast<double>(progress.rows_read) / std::max(seconds, 0.001));
  line += std::to_string(progress.rows_read) + " rows, " + std::to_string(rate) + " rows/s";
  const size_t length = line.size();
  if (length < width_) line += std::string(width_ - length, ' ');
  width_ = length;
  static_cast<void>(std::fprintf(stderr, "\r%s", line.c_str()));
  static_cast<void>(std::fflush(stderr));
}

void ProgressBar::Finish() {
  if (!drawn_ || width_ == 0) return;
  static_cast<void>(std::fprintf(stderr, "\r%s\r", std::string(width_, ' ').c_str()));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace infino::cli
