//! What a failed request means, and how to say it.

use std::error::Error as _;

use object_store::Error;

use crate::abi::Outcome;
use crate::http_client::{Kind, Seen};

/// What was tried, as far as it matters for what a failure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Read,
    ReadRange,
    Create,
    Replace,
    Delete,
    List,
    BeginUpload,
    PutPart,
    CompleteUpload,
    AbortUpload,
}

impl Attempt {
    pub fn name(self) -> &'static str {
        match self {
            Attempt::Read | Attempt::ReadRange => "read",
            Attempt::Create | Attempt::Replace => "write",
            Attempt::Delete => "delete",
            Attempt::List => "list",
            Attempt::BeginUpload => "begin to upload",
            Attempt::PutPart => "upload a part of",
            Attempt::CompleteUpload => "complete the upload of",
            Attempt::AbortUpload => "abort the upload of",
        }
    }
}

#[derive(Debug)]
pub struct Failure {
    pub outcome: Outcome,
    pub why: String,
}

fn fail(outcome: Outcome, why: impl Into<String>) -> Failure {
    Failure {
        outcome,
        why: why.into(),
    }
}

/// The text of the first element of that name in `text`, an answer's XML.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let start = text.find(&format!("<{name}>"))? + name.len() + 2;
    let end = start + text[start..].find(&format!("</{name}>"))?;
    Some(&text[start..end])
}

/// The error with its causes, or what the service said.
fn detail(error: &Error) -> String {
    let whole = error.to_string();
    if let Some(code) = element(&whole, "Code") {
        let first_line = element(&whole, "Message")
            .unwrap_or("")
            .lines()
            .next()
            .unwrap_or("");
        return format!("the service says {code}: {first_line}");
    }
    let mut text = whole;
    let mut cause = error.source();
    while let Some(next) = cause {
        let next_text = next.to_string();
        if !text.contains(&next_text) {
            text = format!("{text}: {next_text}");
        }
        cause = next.source();
    }
    const LENGTH_MAX: usize = 600;
    if text.len() > LENGTH_MAX {
        let end = (0..=LENGTH_MAX)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

fn refused_credentials(error: &Error) -> Failure {
    let detail = detail(error);
    fail(
        Outcome::Refused,
        format!("the credentials were refused, or may not do this; {detail}"),
    )
}

fn no_such_bucket(kind: Kind, error: &Error) -> Failure {
    let what = if kind == Kind::Azure {
        "container"
    } else {
        "bucket"
    };
    fail(
        Outcome::Refused,
        format!("there is no such {what}; {}", detail(error)),
    )
}

fn judge_not_found(kind: Kind, attempt: Attempt, error: &Error, text: &str) -> Failure {
    let names_bucket = text.contains("NoSuchBucket")
        || text.contains("ContainerNotFound")
        || text.contains("bucket does not exist");
    match attempt {
        _ if names_bucket => no_such_bucket(kind, error),
        Attempt::List | Attempt::Create | Attempt::BeginUpload => no_such_bucket(kind, error),
        Attempt::Replace => fail(Outcome::PreconditionFailed, ""),
        _ => fail(Outcome::NotFound, detail(error)),
    }
}

fn judge_conflict(kind: Kind, attempt: Attempt, error: &Error, text: &str) -> Failure {
    let is_create = matches!(attempt, Attempt::Create | Attempt::CompleteUpload);
    // Elsewhere a conflict is a race between two writers, of whom either may have lost.
    if kind == Kind::Azure && is_create && text.contains("BlobAlreadyExists") {
        return fail(Outcome::PreconditionFailed, "");
    }
    fail(Outcome::Unavailable, detail(error))
}

fn judge_bad_request(error: &Error, text: &str) -> Failure {
    if text.contains("RequestTimeout") {
        return fail(Outcome::Unavailable, detail(error));
    }
    if [
        "ExpiredToken",
        "InvalidToken",
        "AuthorizationHeaderMalformed",
        "TokenRefreshRequired",
    ]
    .iter()
    .any(|code| text.contains(code))
    {
        return refused_credentials(error);
    }
    fail(Outcome::Refused, detail(error))
}

fn judge_credentials(status: u16, error: &Error) -> Failure {
    let why = format!(
        "cannot get credentials; where options, environment and shared configuration have none, the \
         machine's own identity is asked for: {}",
        detail(error)
    );
    match status {
        400..=407 => fail(Outcome::Refused, why),
        _ => fail(Outcome::Unavailable, why),
    }
}

/// What `error` means, which a request to a store of `kind` ended with.
pub fn judge(kind: Kind, attempt: Attempt, error: &Error, seen: Seen) -> Failure {
    if seen.is_for_credentials {
        return judge_credentials(seen.status, error);
    }
    let text = error.to_string();
    match seen.status {
        0 => match error {
            Error::InvalidPath { .. }
            | Error::NotImplemented { .. }
            | Error::NotSupported { .. } => fail(Outcome::Refused, detail(error)),
            _ => fail(Outcome::Unavailable, detail(error)),
        },
        // The requests of a batch have answers of their own.
        200..=299 if text.contains("AccessDenied") => refused_credentials(error),
        200..=299 if attempt == Attempt::ReadRange && text.contains("Wanted range") => {
            fail(Outcome::OutsideRange, detail(error))
        }
        304 => fail(Outcome::NotModified, ""),
        300..=399 => fail(
            Outcome::Refused,
            format!(
                "the bucket is elsewhere: check the region and the endpoint; {}",
                detail(error)
            ),
        ),
        400 => judge_bad_request(error, &text),
        401 | 403 => refused_credentials(error),
        404 => judge_not_found(kind, attempt, error, &text),
        409 => judge_conflict(kind, attempt, error, &text),
        412 => fail(Outcome::PreconditionFailed, detail(error)),
        416 => fail(Outcome::OutsideRange, detail(error)),
        408 | 425 | 429 => fail(Outcome::Unavailable, detail(error)),
        402..=499 => fail(Outcome::Refused, detail(error)),
        // 200 too: an answer that breaks off, or that reports a failure in its text.
        _ => fail(Outcome::Unavailable, detail(error)),
    }
}
