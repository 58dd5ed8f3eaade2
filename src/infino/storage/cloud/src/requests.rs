//! The requests to a bucket, each with its time limit.

use std::cell::Cell;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::list::PaginatedListOptions;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode,
    PutOptions, PutResult, UpdateVersion,
};

use crate::abi::Outcome;
use crate::bucket::Bucket;
use crate::failure::{judge, Attempt, Failure};
use crate::http_client::{Kind, KnownGeneration, SEEN};

/// What of an object listings and reads tell.
#[derive(Debug, Default)]
pub struct Object {
    pub key: String,
    pub version: String,
    pub size: i64,
    pub modified_ms: i64,
}

/// What a request that succeeded came to.
#[derive(Debug, Default)]
pub struct Reply {
    pub object: Object,
    pub bytes: Option<Bytes>,
    pub objects: Vec<Object>,
    pub next_page: String,
}

/// Whether Google Cloud may have given this version.
fn is_generation(version: &str) -> bool {
    version.parse::<i64>().is_ok()
}

/// No connection is slower than that, in bytes a second; else it counts as broken.
const SLOWEST_SENDING: f64 = 262_144.0;

impl Bucket {
    /// How long the service may be silent.
    pub fn patience(&self) -> Duration {
        self.timeout.mul_f64(0.4)
    }

    /// How long a request that sends `size` bytes may take.
    pub fn sending_limit(&self, size: usize) -> Duration {
        self.patience() + Duration::from_secs_f64(size as f64 / SLOWEST_SENDING)
    }

    /// Runs `request` for at most `limit`.
    pub async fn within<T>(
        &self,
        limit: Duration,
        attempt: Attempt,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        match tokio::time::timeout(limit, request).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(judge(self.kind, attempt, &error, SEEN.with(Cell::get))),
            Err(_) => {
                let why = format!("no answer within {:.1} s", limit.as_secs_f64());
                Err(Failure {
                    outcome: Outcome::Unavailable,
                    why,
                })
            }
        }
    }

    pub fn path(&self, key: &str) -> Result<Path, Failure> {
        Path::parse(key).map_err(|error| Failure {
            outcome: Outcome::Refused,
            why: error.to_string(),
        })
    }

    fn version_of(&self, e_tag: Option<String>, version: Option<String>) -> String {
        let token = if self.kind == Kind::Google {
            version
        } else {
            e_tag
        };
        token.unwrap_or_default()
    }

    fn object_of(&self, meta: ObjectMeta) -> Object {
        Object {
            key: meta.location.to_string(),
            size: meta.size as i64,
            modified_ms: meta.last_modified.timestamp_millis(),
            version: self.version_of(meta.e_tag, meta.version),
        }
    }

    async fn collect(&self, attempt: Attempt, result: GetResult) -> Result<Bytes, Failure> {
        let size = (result.range.end - result.range.start) as usize;
        let mut bytes: Vec<u8> = Vec::new();
        let mut stream = result.into_stream();
        bytes.try_reserve_exact(size).map_err(|_| {
            let why = format!("no memory for its {size} bytes");
            Failure {
                outcome: Outcome::Refused,
                why,
            }
        })?;
        loop {
            let next = async { stream.next().await.transpose() };
            match self.within(self.patience(), attempt, next).await? {
                Some(chunk) => bytes.extend_from_slice(&chunk),
                None => break,
            }
        }
        if bytes.len() != size {
            let why = format!("the answer broke off after {} of {size} bytes", bytes.len());
            return Err(Failure {
                outcome: Outcome::Unavailable,
                why,
            });
        }
        Ok(Bytes::from(bytes))
    }

    async fn read(
        &self,
        attempt: Attempt,
        path: &Path,
        options: GetOptions,
    ) -> Result<Reply, Failure> {
        let request = self.store.get_opts(path, options);
        let result = self.within(self.patience(), attempt, request).await?;
        let object = self.object_of(result.meta.clone());
        let bytes = Some(self.collect(attempt, result).await?);
        Ok(Reply {
            object,
            bytes,
            ..Reply::default()
        })
    }

    pub async fn get(&self, key: &str, known: String) -> Result<Reply, Failure> {
        let mut options = GetOptions::default();
        if self.kind == Kind::Google {
            if is_generation(&known) {
                options.extensions.insert(KnownGeneration(known));
            }
        } else if !known.is_empty() {
            options.if_none_match = Some(known);
        }
        self.read(Attempt::Read, &self.path(key)?, options).await
    }

    pub async fn get_range(&self, key: &str, offset: u64, length: u64) -> Result<Reply, Failure> {
        let range = Some(GetRange::Bounded(offset..offset.saturating_add(length)));
        let options = GetOptions {
            range,
            ..GetOptions::default()
        };
        self.read(Attempt::ReadRange, &self.path(key)?, options)
            .await
    }

    pub async fn head(&self, key: &str) -> Result<Reply, Failure> {
        let path = self.path(key)?;
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        let request = self.store.get_opts(&path, options);
        let result = self.within(self.patience(), Attempt::Read, request).await?;
        Ok(Reply {
            object: self.object_of(result.meta),
            ..Reply::default()
        })
    }

    pub async fn put(&self, key: &str, bytes: Bytes, expected: String) -> Result<Reply, Failure> {
        let path = self.path(key)?;
        let (attempt, mode) = if expected.is_empty() {
            (Attempt::Create, PutMode::Create)
        } else {
            if self.kind == Kind::Google && !is_generation(&expected) {
                return Err(Failure {
                    outcome: Outcome::PreconditionFailed,
                    why: String::new(),
                });
            }
            let mut version = UpdateVersion {
                e_tag: None,
                version: None,
            };
            match self.kind {
                Kind::Google => version.version = Some(expected),
                _ => version.e_tag = Some(expected),
            }
            (Attempt::Replace, PutMode::Update(version))
        };
        let limit = self.sending_limit(bytes.len());
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        let request = self.store.put_opts(&path, bytes.into(), options);
        let PutResult { e_tag, version } = self.within(limit, attempt, request).await?;
        let version = self.version_of(e_tag, version);
        if version.is_empty() {
            let why = "the service did not say which version it has written".to_string();
            return Err(Failure {
                outcome: Outcome::Unavailable,
                why,
            });
        }
        Ok(Reply {
            object: Object {
                version,
                ..Object::default()
            },
            ..Reply::default()
        })
    }

    pub async fn delete(&self, key: &str) -> Result<Reply, Failure> {
        let path = self.path(key)?;
        let request = async {
            match self.store.delete(&path).await {
                Err(Error::NotFound { .. }) => Ok(()),
                other => other,
            }
        };
        self.within(self.patience(), Attempt::Delete, request)
            .await?;
        Ok(Reply::default())
    }

    pub async fn list(&self, prefix: String, page: String) -> Result<Reply, Failure> {
        let page_token = (!page.is_empty()).then_some(page);
        let options = PaginatedListOptions {
            page_token,
            ..PaginatedListOptions::default()
        };
        let prefix = (!prefix.is_empty()).then_some(prefix.as_str());
        let request = self.store.list_paginated(prefix, options);
        let page = self.within(self.patience(), Attempt::List, request).await?;
        let objects = page
            .result
            .objects
            .into_iter()
            .map(|meta| self.object_of(meta))
            .collect();
        let next_page = page.page_token.unwrap_or_default();
        Ok(Reply {
            objects,
            next_page,
            ..Reply::default()
        })
    }
}
