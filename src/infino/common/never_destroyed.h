#pragma once

#include <utility>

namespace infino {

/// For a function's static whose type has a destructor: keeps the value for good, so that a thread
/// which is still at work when the process ends finds it whole.
template <typename T>
union NeverDestroyed {
  template <typename... Arguments>
  explicit NeverDestroyed(Arguments&&... arguments)
      : value(std::forward<Arguments>(arguments)...) {}

  ~NeverDestroyed() {}  // NOLINT(modernize-use-equals-default): defaulted, it would be deleted

  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;
  NeverDestroyed(NeverDestroyed&&) = delete;
  NeverDestroyed& operator=(NeverDestroyed&&) = delete;

  T value;
};

}  // namespace infino
