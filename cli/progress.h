#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "infino/common/clock.h"
#include "infino/table.h"

namespace infino::cli {

/// A progress bar on standard error, drawn at most ten times a second, and only on a terminal. With
/// an unknown total it shows what has been done.
class ProgressBar {
 public:
  /// `total_rows` is 0 where it is unknown.
  ProgressBar(std::string label, uint64_t total_rows, bool wanted);

  void Update(const AppendProgress& progress);

  /// Clears the line.
  void Finish();

 private:
  std::string label_;
  uint64_t total_rows_;
  bool drawn_;
  std::shared_ptr<Clock> clock_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds drawn_at_{};
  size_t width_ = 0;
};

}  // namespace infino::cli
