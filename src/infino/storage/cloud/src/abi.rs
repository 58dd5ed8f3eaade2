//! The types of infino_cloud.h, and the gate through which all calls into the other side go.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    data: *const c_char,
    size: usize,
}

impl Text {
    pub const EMPTY: Text = Text {
        data: std::ptr::null(),
        size: 0,
    };

    /// The text is valid as long as `text` is.
    pub fn of(text: &str) -> Text {
        Text {
            data: text.as_ptr().cast(),
            size: text.len(),
        }
    }

    /// A copy; what is no UTF-8 becomes the replacement character.
    ///
    /// # Safety
    /// `data` points to `size` bytes, or `size` is 0.
    pub unsafe fn copy(&self) -> String {
        if self.size == 0 {
            return String::new();
        }
        let bytes = std::slice::from_raw_parts(self.data.cast::<u8>(), self.size);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done = 0,
    PreconditionFailed = 1,
    NotModified = 2,
    NotFound = 3,
    Unavailable = 4,
    Refused = 5,
    OutsideRange = 6,
    Fault = 7,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry {
    pub key: Text,
    pub version: Text,
    pub size: i64,
    pub modified_ms: i64,
}

#[repr(C)]
pub struct Answer {
    pub outcome: Outcome,
    pub message: Text,
    pub object: Entry,
    pub bytes: *const u8,
    pub byte_count: usize,
    pub bytes_owner: *mut c_void,
    pub entries: *const Entry,
    pub entry_count: usize,
    pub next_page: Text,
    pub upload: *mut c_void,
}

impl Answer {
    pub fn new(outcome: Outcome) -> Answer {
        let object = Entry {
            key: Text::EMPTY,
            version: Text::EMPTY,
            size: 0,
            modified_ms: 0,
        };
        Answer {
            outcome,
            message: Text::EMPTY,
            object,
            bytes: std::ptr::null(),
            byte_count: 0,
            bytes_owner: std::ptr::null_mut(),
            entries: std::ptr::null(),
            entry_count: 0,
            next_page: Text::EMPTY,
            upload: std::ptr::null_mut(),
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Done {
    pub call: extern "C" fn(*mut c_void, *const Answer),
    pub context: *mut c_void,
}

// The other side promises that its contexts may be used on any thread.
unsafe impl Send for Done {}

#[repr(C)]
pub struct Body {
    data: *const u8,
    size: usize,
    release: extern "C" fn(*mut c_void),
    owner: *mut c_void,
}

// The other side promises that the bytes may be read, and released, on any thread.
unsafe impl Send for Body {}
unsafe impl Sync for Body {}

impl Body {
    pub fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        if self.size == 0 {
            return &[];
        }
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        call_out(|| (self.release)(self.owner));
    }
}

#[repr(C)]
pub struct Place {
    pub kind: i32,
    pub bucket: Text,
    pub options: *const Text,
    pub option_count: usize,
    pub generation: u64,
}

static STOPPED: AtomicBool = AtomicBool::new(false);
static CALLS_OUT: AtomicUsize = AtomicUsize::new(0);

/// The process that CALLS_OUT counts for. A fork may come in the middle of a call.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// To be called before the first request of a process.
pub fn forget_calls_of_parent() {
    let process = std::process::id();
    if PROCESS.swap(process, SeqCst) != process {
        CALLS_OUT.store(0, SeqCst);
    }
}

/// Makes a call into the other side, unless that wants none any more.
pub fn call_out(call: impl FnOnce()) {
    CALLS_OUT.fetch_add(1, SeqCst);
    if !STOPPED.load(SeqCst) {
        call();
    }
    CALLS_OUT.fetch_sub(1, SeqCst);
}

/// From now on `call_out` does nothing; waits for calls under way, but not for ever.
pub fn stop() {
    STOPPED.store(true, SeqCst);
    for _ in 0..5000 {
        if CALLS_OUT.load(SeqCst) == 0 || PROCESS.load(SeqCst) != std::process::id() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
