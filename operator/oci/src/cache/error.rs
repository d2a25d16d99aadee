use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use operator_net::Move;
use thiserror::Error;

/// Why the cache of artifacts cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum CacheError {
    #[error("failed to {verb} {}, in the cache of artifacts", path.display())]
    Disk { verb: &'static str, path: PathBuf, source: io::Error },
    #[error("{} was locked for more than {limit:?} by another process", path.display())]
    Busy { path: PathBuf, limit: Duration },
    #[error(
        "the cache of artifacts is full: an artifact of {needed} bytes finds no room beside those in use"
    )]
    Full { needed: u64 },
}

impl CacheError {
    /// Who can make it succeed.
    #[must_use]
    pub fn next_move(&self) -> Move {
        match self {
            Self::Disk { .. } => Move::Operator,
            Self::Busy { .. } | Self::Full { .. } => Move::Nobody,
        }
    }
}

/// Says what failed.
pub(crate) trait Step<T> {
    fn step(self, verb: &'static str, path: &Path) -> Result<T, CacheError>;
}

impl<T> Step<T> for io::Result<T> {
    fn step(self, verb: &'static str, path: &Path) -> Result<T, CacheError> {
        self.map_err(|source| CacheError::Disk { verb, path: path.to_owned(), source })
    }
}
