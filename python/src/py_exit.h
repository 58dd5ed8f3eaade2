#pragma once

#include <memory>
#include <utility>

#include <nanobind/nanobind.h>

namespace infino::python {

/// While it lives, the thread is in the library, without the interpreter lock. REQUIRES: the lock
/// is held when it is made.
///
/// A daemon thread that comes back to an interpreter which is being torn down is ended on the spot,
/// and C++ does not survive that. So from the moment the interpreter begins to exit, no thread but
/// the one that ends it leaves the library again: what it is at is stopped, and then it sleeps
/// until the process is gone. A thread that wants in by then sleeps at once.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
  LibraryCall(LibraryCall&&) = delete;
  LibraryCall& operator=(LibraryCall&&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether the calling thread will not come back to Python, so that its work is for nothing. Needs
/// no interpreter lock.
bool IsLeftBehind();

/// Lets go of a handle without the interpreter lock: its last reference waits for threads, and they
/// may need the lock to let go of rows that Python made.
template <typename T>
void LetGo(std::shared_ptr<T> handle) {
  if (handle == nullptr) return;
  const LibraryCall call;
  handle.reset();
}

/// Adds what `_connection.py` calls at exit and after a fork.
void BindExit(nanobind::module_& module);

}  // namespace infino::python
