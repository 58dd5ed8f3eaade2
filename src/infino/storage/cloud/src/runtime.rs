//! The threads on which requests run: a few a process, started by the first store.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::abi;
use tokio::runtime::{Builder, Handle, Runtime};

const THREADS: usize = 2;

struct Threads {
    generation: u64,
    runtime: Runtime,
}

/// Never freed: a forked child finds the threads of its parent gone, and their locks in any state,
/// so it leaves them alone and starts its own. A pointer, since a lock could be closed in the child.
static CURRENT: AtomicPtr<Threads> = AtomicPtr::new(std::ptr::null_mut());

/// A service that closes a connection under way would end the process, where that does not expect
/// it: what is written with several buffers at once raises the signal, to the thread that writes.
fn block_broken_pipes() {
    unsafe {
        let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut());
    }
}

/// The threads of the process of this `generation`.
pub fn handle(generation: u64) -> Result<Handle, String> {
    let seen = CURRENT.load(Ordering::Acquire);
    if let Some(threads) = unsafe { seen.as_ref() } {
        if threads.generation == generation {
            return Ok(threads.runtime.handle().clone());
        }
    }
    abi::forget_calls_of_parent();
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("infino-cloud")
        .on_thread_start(block_broken_pipes)
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
