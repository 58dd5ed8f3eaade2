//! An object that is sent in parts.

use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{CopyMode, CopyOptions, ObjectStoreExt};

use crate::abi::Outcome;
use crate::bucket::Bucket;
use crate::failure::{Attempt, Failure};
use crate::http_client::Kind;
use crate::requests::Reply;

#[derive(Debug)]
struct Part {
    id: PartId,
    size: usize,
}

/// S3 and Azure make the object at its place, if none is there. Google Cloud knows no such condition
/// for uploads, only for copies, so there the object is made beside its place, under a name that
/// listings leave out, and is copied, which moves no bytes.
pub struct Upload {
    bucket: Arc<Bucket>,
    path: Path,
    /// Where the parts become an object.
    made_at: Path,
    id: String,
    parts: Mutex<HashMap<u64, Part>>,
    is_made: AtomicBool,
}

/// A name that nobody else has.
fn unique_name() -> String {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let now = std::time::SystemTime::now();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Each state has a key from the system's random numbers.
    let high = RandomState::new().hash_one((now, count, std::process::id()));
    let low = RandomState::new().hash_one((now, count, high));
    format!(".tmp-{high:016x}{low:016x}")
}

/// Services put parts together faster than that, in bytes a second.
const SLOWEST_MAKING: usize = 16;

impl Upload {
    pub async fn begin(bucket: Arc<Bucket>, key: &str) -> Result<Upload, Failure> {
        let path = bucket.path(key)?;
        let made_at = if bucket.kind == Kind::Google {
            let folder = key
                .rsplit_once('/')
                .map_or(String::new(), |(folder, _)| format!("{folder}/"));
            bucket.path(&format!("{folder}{}", unique_name()))?
        } else {
            path.clone()
        };
        let request = bucket.store.create_multipart(&made_at);
        let id = bucket
            .within(bucket.patience(), Attempt::BeginUpload, request)
            .await?;
        let parts = Mutex::default();
        Ok(Upload {
            bucket,
            path,
            made_at,
            id,
            parts,
            is_made: AtomicBool::new(false),
        })
    }

    pub fn bucket(&self) -> Arc<Bucket> {
        Arc::clone(&self.bucket)
    }

    pub fn key(&self) -> String {
        self.path.to_string()
    }

    pub async fn put_part(&self, number: u64, bytes: Bytes) -> Result<Reply, Failure> {
        let size = bytes.len();
        let request =
            self.bucket
                .store
                .put_part(&self.made_at, &self.id, number as usize, bytes.into());
        let limit = self.bucket.sending_limit(size);
        let id = self.bucket.within(limit, Attempt::PutPart, request).await?;
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(number, Part { id, size });
        Ok(Reply::default())
    }

    pub async fn complete(&self, part_count: u64) -> Result<Reply, Failure> {
        let mut ids = Vec::new();
        let mut size = 0;
        {
            let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            for number in 0..part_count {
                let Some(part) = parts.get(&number) else {
                    let why = format!("part {number} was not sent");
                    return Err(Failure {
                        outcome: Outcome::Refused,
                        why,
                    });
                };
                ids.push(part.id.clone());
                size += part.size;
            }
        }
        let limit = self.bucket.sending_limit(size / SLOWEST_MAKING);
        if !self.is_made.load(Ordering::SeqCst) {
            let request = self
                .bucket
                .store
                .complete_multipart(&self.made_at, &self.id, ids);
            match self
                .bucket
                .within(limit, Attempt::CompleteUpload, request)
                .await
            {
                Ok(_) => {}
                Err(failure) if failure.outcome == Outcome::NotFound && self.is_staged() => {
                    // Made by an earlier call, whose answer was lost; or else nowhere.
                    self.bucket.head(self.made_at.as_ref()).await?;
                }
                Err(failure) => return Err(failure),
            }
            self.is_made.store(true, Ordering::SeqCst);
        }
        if self.is_staged() {
            let options = CopyOptions {
                mode: CopyMode::Create,
                ..CopyOptions::default()
            };
            let request = self
                .bucket
                .store
                .copy_opts(&self.made_at, &self.path, options);
            self.bucket
                .within(limit, Attempt::CompleteUpload, request)
                .await?;
            self.remove_staged().await;
        }
        Ok(Reply::default())
    }

    pub async fn abort(&self) -> Result<Reply, Failure> {
        if self.is_made.load(Ordering::SeqCst) {
            if self.is_staged() {
                self.remove_staged().await;
            }
            return Ok(Reply::default());
        }
        let request = self.bucket.store.abort_multipart(&self.made_at, &self.id);
        match self
            .bucket
            .within(self.bucket.patience(), Attempt::AbortUpload, request)
            .await
        {
            Err(failure) if failure.outcome != Outcome::NotFound => Err(failure),
            _ => Ok(Reply::default()),
        }
    }

    fn is_staged(&self) -> bool {
        self.made_at != self.path
    }

    /// What stays, since this failed, nobody names.
    async fn remove_staged(&self) {
        let request = self.bucket.store.delete(&self.made_at);
        let _ = self
            .bucket
            .within(self.bucket.patience(), Attempt::Delete, request)
            .await;
    }
}
