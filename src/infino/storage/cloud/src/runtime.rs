//! The threads on which requests run: a few a process, started by the first store.

use std::sync::atomic::{AtomicPtr, Ordering};

use tokio::runtime::{Builder, Handle, Runtime};

const THREADS: usize = 2;

struct Threads {
    generation: u64,
    runtime: Runtime,
}

/// Never freed: a forked child finds the threads of its parent gone, and their locks in any state,
/// so it leaves them alone and starts its own. A pointer, since a lock could be closed in the child.
static CURRENT: AtomicPtr<Threads> = AtomicPtr::new(std::ptr::null_mut());

/// The threads of the process of this `generation`.
pub fn handle(generation: u64) -> Result<Handle, String> {
    let seen = CURRENT.load(Ordering::Acquire);
    if let Some(threads) = unsafe { seen.as_ref() } {
        if threads.generation == generation {
            return Ok(threads.runtime.handle().clone());
        }
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("infino-cloud")
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start threads for requests: {error}"))?;
    let made = Box::into_raw(Box::new(Threads {
        generation,
        runtime,
    }));
    match CURRENT.compare_exchange(seen, made, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(unsafe { &*made }.runtime.handle().clone()),
        Err(winner) => {
            unsafe { Box::from_raw(made) }.runtime.shutdown_background();
            Ok(unsafe { &*winner }.runtime.handle().clone())
        }
    }
}
