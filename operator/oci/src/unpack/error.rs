use std::io;

use thiserror::Error;

use super::{UnpackLimits, ceiling::CeilingHit};
use crate::excerpt::excerpt;

/// Why an archive cannot be unpacked.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum UnpackError {
    #[error("{name:?} in the archive is not allowed: {problem}")]
    Entry { name: String, problem: Problem },
    #[error("the archive has more than {limit} entries")]
    TooManyEntries { limit: usize },
    #[error("the archive has more than {limit} bytes when it is unpacked")]
    TooLarge { limit: u64 },
    #[error("the archive ends in the middle of an entry")]
    Truncated,
    #[error("the archive is not by tar and gzip, or is damaged")]
    Damaged(#[source] io::Error),
}

/// What is wrong with one entry.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum Problem {
    #[error("it is a link, and only files and folders are unpacked")]
    Link,
    #[error("it is of kind {kind:?}, and only files and folders are unpacked")]
    Kind { kind: char },
    #[error("its mode {mode:o} has bits for set-user-id, set-group-id or sticky")]
    Mode { mode: u32 },
    #[error("it leads out of the archive")]
    Outside,
    #[error("its path is absolute")]
    Absolute,
    #[error("its name is empty, not UTF-8, too long, or has a backslash or control characters")]
    Name,
    #[error("it is in more than {limit} folders")]
    Depth { limit: usize },
    #[error("it is there twice")]
    Twice,
    #[error("it differs from {other:?} in upper and lower case alone")]
    CaseTwin { other: String },
    #[error("it is a file and a folder")]
    FileAndFolder,
    #[error("it has {size} bytes, and {limit} are allowed")]
    TooLarge { size: u64, limit: u64 },
    #[error("two sizes are given for it")]
    Sizes,
    #[error("what extends its header has {size} bytes, and {limit} are allowed")]
    Extension { size: u64, limit: u64 },
    #[error("the archive has more than {limit} bytes when it is unpacked")]
    Total { limit: u64 },
    #[error("the archive ends in the middle of it")]
    Truncated,
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    #[error("it cannot be written: {0}")]
    Write(#[source] io::Error),
}

impl UnpackError {
    /// Whether the disk is at fault and not the archive.
    #[must_use]
    pub fn is_of_the_disk(&self) -> bool {
        matches!(self, Self::Entry { problem: Problem::Write(_), .. })
    }
}

/// How a name is shown.
pub(super) fn shown(name: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(name))
}

/// What failed between entries.
pub(super) fn reading(source: io::Error, limits: &UnpackLimits) -> UnpackError {
    if is_ceiling(&source) {
        return UnpackError::TooLarge { limit: limits.bytes };
    }
    match source.kind() {
        io::ErrorKind::UnexpectedEof => UnpackError::Truncated,
        _ => UnpackError::Damaged(source),
    }
}

/// What failed within an entry.
pub(super) fn within(source: io::Error, limits: &UnpackLimits) -> Problem {
    if is_ceiling(&source) {
        return Problem::Total { limit: limits.bytes };
    }
    match source.kind() {
        io::ErrorKind::UnexpectedEof => Problem::Truncated,
        _ => Problem::Read(source),
    }
}

/// The reader of archives wraps errors in its own.
fn is_ceiling(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<CeilingHit>() {
            return true;
        }
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    false
}
