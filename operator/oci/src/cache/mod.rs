//! Unpacked artifacts on disk, by digest.
//!
//! ```text
//! <root>/lock             held for moments, while the list of entries is read or changed
//! <root>/sha256-<hex>/    an artifact that is complete
//!   lock                  held shared by whoever reads the files
//!   about.json            the digest of the image, and the size
//!   files/                what was unpacked
//! <root>/draft-<...>/     an artifact that is being pulled, or an old one that is being deleted
//!   lock                  held by whoever does it
//! ```
//!
//! # Guarantees
//! An entry appears whole, by a rename, or not at all. Locks are those of the system and end with their process: what
//! a killed process left behind is cleared away by the next one that opens the cache or adds to it. An entry is
//! deleted only when nobody reads it.
//!
//! # Assumptions
//! Nobody else writes into the folder, and it is on a file system of this machine.

mod draft;
mod entry;
mod error;
mod lock;
mod room;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use error::CacheError;

pub(crate) use draft::Draft;
pub(crate) use entry::{About, Entry};

use crate::digest::Digest;
use error::Step;

/// How much a cache keeps. Beside that there is what is being pulled: for each process a layer and what it unpacks to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheLimits {
    /// How many artifacts.
    pub entries: usize,
    /// How many bytes they have together, unpacked.
    pub bytes: u64,
}

impl Default for CacheLimits {
    /// The artifact in use, the one before, and one that is tried: three of the largest that are allowed.
    fn default() -> Self {
        Self { entries: 4, bytes: 320 * 1024 * 1024 }
    }
}

/// A folder with artifacts. Its functions wait for the disk.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    root: PathBuf,
    limits: CacheLimits,
}

impl Cache {
    /// Opens a cache, made when it is missing, and clears away what killed processes left.
    pub(crate) fn open(root: PathBuf, limits: CacheLimits) -> Result<Self, CacheError> {
        fs::create_dir_all(&root).step("create", &root)?;
        let cache = Self { root, limits };
        let held = cache.lock()?;
        let dead = room::dead_drafts(&cache.root)?;
        drop(held);
        room::delete(&dead);
        Ok(cache)
    }

    /// The artifact with a digest; none when it is not here. It stays as long as the entry lives.
    pub(crate) fn find(&self, digest: &Digest) -> Result<Option<Entry>, CacheError> {
        let _held = self.lock()?;
        Entry::open(&self.path(digest))
    }

    /// A folder for an artifact that is to be pulled.
    pub(crate) fn begin(&self) -> Result<Draft, CacheError> {
        let _held = self.lock()?;
        Draft::create(&self.root)
    }

    /// Adds a pulled artifact. Older ones that nobody reads make room. When another process was faster, its entry is
    /// given and the draft forgotten: both have the same content.
    pub(crate) fn publish(&self, draft: Draft, digest: &Digest, about: &About) -> Result<Entry, CacheError> {
        let held = self.lock()?;
        let path = self.path(digest);
        if let Some(entry) = Entry::open(&path)? {
            return Ok(entry);
        }
        let mut garbage = room::dead_drafts(&self.root)?;
        let made = room::make(&self.root, &self.limits, about.bytes);
        let result = match made {
            Ok(evicted) => {
                garbage.extend(evicted);
                draft.publish(&path, about)
            }
            Err(error) => Err(error),
        };
        drop(held);
        room::delete(&garbage);
        result
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.root.join(digest.tag(""))
    }

    fn lock(&self) -> Result<fs::File, CacheError> {
        lock::wait_for(&self.root.join(LOCK))
    }
}

/// The name of the files that locks are on.
const LOCK: &str = "lock";

/// How the names of drafts begin.
const DRAFT: &str = "draft-";

/// How the names of entries begin.
const ENTRY: &str = "sha256-";

/// The name of what an entry is told of.
const ABOUT: &str = "about.json";

/// The name of the folder with the files.
const FILES: &str = "files";

/// The names in a folder.
fn names(folder: &Path) -> Result<Vec<String>, CacheError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).step("read", folder)? {
        if let Ok(name) = entry.step("read", folder)?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
