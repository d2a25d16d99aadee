//! Kubeconfigs that differ from another one.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A kubeconfig that could not be made from another one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeriveError {
    /// The original cannot be read.
    #[error("failed to read {path}")]
    Read {
        /// The original.
        path: PathBuf,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The copy cannot be written.
    #[error("failed to write {path}")]
    Write {
        /// The copy.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Writes a copy of a kubeconfig with a change.
pub(crate) fn derive(
    original: &Path,
    copy: &Path,
    change: impl FnOnce(&mut Value),
) -> Result<(), DeriveError> {
    let failed = |source| DeriveError::Read { path: original.to_owned(), source };
    let text = fs::read_to_string(original).map_err(|error| failed(error.into()))?;
    let mut content: Value = serde_saphyr::from_str(&text).map_err(|error| failed(error.into()))?;
    change(&mut content);
    fs::write(copy, format!("{content:#}\n"))
        .map_err(|source| DeriveError::Write { path: copy.to_owned(), source })
}

/// The entries of one of its lists: `clusters`, `users` or `contexts`.
pub(crate) fn entries<'a>(content: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    content[list].as_array_mut().into_iter().flatten()
}
