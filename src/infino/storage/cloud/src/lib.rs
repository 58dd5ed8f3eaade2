//! Object stores of S3, Azure and Google Cloud behind the C interface of infino_cloud.h.

mod abi;
mod bucket;
mod failure;
mod http_client;
mod options;
mod requests;
mod runtime;
mod shared_config;
mod upload;

use std::cell::Cell;
use std::ffi::c_void;
use std::future::Future;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::runtime::Handle;

use abi::{call_out, Answer, Body, Done, Entry, Outcome, Place, Text};
use bucket::Bucket;
use failure::{Attempt, Failure};
use http_client::{Kind, Seen, SEEN};
use requests::{Object, Reply};
use upload::Upload;

pub struct Store {
    bucket: Arc<Bucket>,
    threads: Handle,
}

pub struct OpenUpload {
    upload: Arc<Upload>,
    threads: Handle,
}

fn entry_of(object: &Object) -> Entry {
    Entry {
        key: Text::of(&object.key),
        version: Text::of(&object.version),
        size: object.size,
        modified_ms: object.modified_ms,
    }
}

fn finish(done: Done, answer: Answer) {
    call_out(|| (done.call)(done.context, &answer));
}

fn finish_with_failure(done: Done, outcome: Outcome, message: &str) {
    let mut answer = Answer::new(outcome);
    answer.message = Text::of(message);
    finish(done, answer);
}

fn finish_with_reply(done: Done, reply: Reply) {
    let mut answer = Answer::new(Outcome::Done);
    answer.object = entry_of(&reply.object);
    if let Some(bytes) = reply.bytes {
        answer.bytes = bytes.as_ptr();
        answer.byte_count = bytes.len();
        answer.bytes_owner = Box::into_raw(Box::new(bytes)).cast();
    }
    let entries: Vec<Entry> = reply.objects.iter().map(entry_of).collect();
    answer.entries = entries.as_ptr();
    answer.entry_count = entries.len();
    answer.next_page = Text::of(&reply.next_page);
    finish(done, answer);
}

/// Runs `request` on the threads of the crate, and calls `done` once, also after a panic.
fn run<T: Send + 'static>(
    threads: &Handle,
    bucket: Arc<Bucket>,
    (attempt, key): (Attempt, String),
    done: Done,
    request: impl Future<Output = Result<T, Failure>> + Send + 'static,
    succeed: impl FnOnce(Done, T) + Send + 'static,
) {
    threads.spawn(async move {
        let slot = bucket.slots.acquire().await;
        let guarded = AssertUnwindSafe(request).catch_unwind();
        let what = || {
            format!(
                "cannot {} {}/{key} (endpoint {})",
                attempt.name(),
                bucket.uri,
                bucket.endpoint
            )
        };
        let result = SEEN.scope(Cell::new(Seen::default()), guarded).await;
        drop(slot);
        match result {
            Ok(Ok(value)) => succeed(done, value),
            Ok(Err(Failure { outcome, why })) => {
                finish_with_failure(done, outcome, &format!("{}: {why}", what()));
            }
            Err(_) => {
                let message = format!("{}: a fault in the object store library", what());
                finish_with_failure(done, Outcome::Fault, &message);
            }
        }
    });
}

fn run_on_bucket<F: Future<Output = Result<Reply, Failure>> + Send + 'static>(
    store: &Store,
    attempt: Attempt,
    key: String,
    done: Done,
    request: impl FnOnce(Arc<Bucket>, String) -> F,
) {
    let bucket = Arc::clone(&store.bucket);
    let future = request(Arc::clone(&bucket), key.clone());
    run(
        &store.threads,
        bucket,
        (attempt, key),
        done,
        future,
        finish_with_reply,
    );
}

fn open(place: &Place) -> Result<Store, String> {
    let kind = match place.kind {
        0 => Kind::S3,
        1 => Kind::Azure,
        2 => Kind::Google,
        other => return Err(format!("no such kind of store: {other}")),
    };
    let bucket = unsafe { place.bucket.copy() };
    let mut texts = Vec::new();
    for i in 0..place.option_count {
        texts.push(unsafe { (*place.options.add(i)).copy() });
    }
    let given: Vec<_> = texts
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect();
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let threads = runtime::handle(place.generation)?;
    // Some of what is made needs the threads at hand.
    let _inside = threads.enter();
    let bucket = Arc::new(bucket::open(kind, &bucket, &given, &environment)?);
    Ok(Store {
        bucket,
        threads: threads.clone(),
    })
}

/// # Safety
/// As infino_cloud.h says, here and below.
#[no_mangle]
pub unsafe extern "C" fn infino_cloud_open(
    place: *const Place,
    timeout_ms: *mut i64,
    failed: extern "C" fn(*mut c_void, Text),
    context: *mut c_void,
) -> *mut Store {
    let opened = catch_unwind(AssertUnwindSafe(|| open(&*place)))
        .unwrap_or_else(|_| Err("a fault in the object store library".to_string()));
    match opened {
        Ok(store) => {
            *timeout_ms = store.bucket.timeout.as_millis() as i64;
            Box::into_raw(Box::new(store))
        }
        Err(why) => {
            failed(context, Text::of(&why));
            std::ptr::null_mut()
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_close(store: *mut Store) {
    let store = Box::from_raw(store);
    let _inside = store.threads.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| drop(store.bucket)));
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_get(
    store: *const Store,
    key: Text,
    known: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (key, known, done) = (key.copy(), known.copy(), Done { call, context });
    run_on_bucket(
        &*store,
        Attempt::Read,
        key,
        done,
        |bucket, key| async move { bucket.get(&key, known).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_get_range(
    store: *const Store,
    key: Text,
    offset: u64,
    length: u64,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (key, done) = (key.copy(), Done { call, context });
    run_on_bucket(
        &*store,
        Attempt::ReadRange,
        key,
        done,
        move |bucket, key| async move { bucket.get_range(&key, offset, length).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_head(
    store: *const Store,
    key: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (key, done) = (key.copy(), Done { call, context });
    run_on_bucket(
        &*store,
        Attempt::Read,
        key,
        done,
        |bucket, key| async move { bucket.head(&key).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_put(
    store: *const Store,
    key: Text,
    body: Body,
    expected: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (key, expected, done) = (key.copy(), expected.copy(), Done { call, context });
    let bytes = body.into_bytes();
    let attempt = if expected.is_empty() {
        Attempt::Create
    } else {
        Attempt::Replace
    };
    run_on_bucket(&*store, attempt, key, done, |bucket, key| async move {
        bucket.put(&key, bytes, expected).await
    });
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_delete(
    store: *const Store,
    key: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (key, done) = (key.copy(), Done { call, context });
    run_on_bucket(
        &*store,
        Attempt::Delete,
        key,
        done,
        |bucket, key| async move { bucket.delete(&key).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_list(
    store: *const Store,
    prefix: Text,
    page: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (prefix, page, done) = (prefix.copy(), page.copy(), Done { call, context });
    run_on_bucket(
        &*store,
        Attempt::List,
        prefix,
        done,
        |bucket, prefix| async move { bucket.list(prefix, page).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_begin_upload(
    store: *const Store,
    key: Text,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let (store, key, done) = (&*store, key.copy(), Done { call, context });
    let bucket = Arc::clone(&store.bucket);
    let threads = store.threads.clone();
    let what = (Attempt::BeginUpload, key.clone());
    let request = {
        let bucket = Arc::clone(&bucket);
        async move { Upload::begin(bucket, &key).await }
    };
    run(
        &store.threads,
        bucket,
        what,
        done,
        request,
        move |done, upload| {
            let mut answer = Answer::new(Outcome::Done);
            let opened = OpenUpload {
                upload: Arc::new(upload),
                threads,
            };
            answer.upload = Box::into_raw(Box::new(opened)).cast();
            finish(done, answer);
        },
    );
}

fn run_on_upload<F: Future<Output = Result<Reply, Failure>> + Send + 'static>(
    opened: &OpenUpload,
    attempt: Attempt,
    done: Done,
    request: impl FnOnce(Arc<Upload>) -> F,
) {
    let upload = Arc::clone(&opened.upload);
    let what = (attempt, upload.key());
    let bucket = upload.bucket();
    run(
        &opened.threads,
        bucket,
        what,
        done,
        request(upload),
        finish_with_reply,
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_put_part(
    upload: *const OpenUpload,
    number: u64,
    body: Body,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    let bytes = body.into_bytes();
    run_on_upload(
        &*upload,
        Attempt::PutPart,
        Done { call, context },
        |upload| async move { upload.put_part(number, bytes).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_complete_upload(
    upload: *const OpenUpload,
    part_count: u64,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    run_on_upload(
        &*upload,
        Attempt::CompleteUpload,
        Done { call, context },
        |upload| async move { upload.complete(part_count).await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_abort_upload(
    upload: *const OpenUpload,
    call: extern "C" fn(*mut c_void, *const Answer),
    context: *mut c_void,
) {
    run_on_upload(
        &*upload,
        Attempt::AbortUpload,
        Done { call, context },
        |upload| async move { upload.abort().await },
    );
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_close_upload(upload: *mut OpenUpload) {
    let opened = Box::from_raw(upload);
    let _ = catch_unwind(AssertUnwindSafe(|| drop(opened)));
}

#[no_mangle]
pub unsafe extern "C" fn infino_cloud_release_bytes(owner: *mut c_void) {
    drop(Box::from_raw(owner.cast::<Bytes>()));
}

#[no_mangle]
pub extern "C" fn infino_cloud_stop() {
    abi::stop();
}
