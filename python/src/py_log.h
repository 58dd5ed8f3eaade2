#pragma once

#include <nanobind/nanobind.h>

namespace infino::python {

/// Hands what the library had to say since the last time to the logger "infino". Messages come from
/// any thread, and are passed on by the thread that next comes back from a call: a thread of a pool
/// never waits for the interpreter lock. REQUIRES: the lock is held.
void PassOnLog();

/// Begins to collect messages. Called once.
void BindLog(nanobind::module_& module);

}  // namespace infino::python
