use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    DRAFT, FILES, LOCK,
    entry::{About, Entry},
    error::{CacheError, Step as _},
    lock,
};

/// Tells the drafts of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder for an artifact that is not complete. It goes when it is dropped.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: PathBuf,
    /// Held by this process alone; none once it is an entry.
    lock: Option<File>,
}

impl Draft {
    /// Under the lock of the cache.
    pub(super) fn create(root: &Path) -> Result<Self, CacheError> {
        let folder = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = root.join(format!("{DRAFT}{}-{number}", process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => break folder,
                // Left by a process of the same number, which is alive or will be cleared away.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).step("create", &folder),
            }
        };
        let path = folder.join(LOCK);
        let file = lock::open(&path)?;
        lock::try_exclusive(&file, &path)?;
        let draft = Self { folder, lock: Some(file) };
        fs::create_dir(draft.files()).step("create", &draft.files())?;
        Ok(draft)
    }

    /// The folder that the files go to.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.join(FILES)
    }

    /// The file that the layer goes to.
    pub(crate) fn layer(&self) -> PathBuf {
        self.folder.join("layer")
    }

    /// Makes an entry of it, under the lock of the cache.
    pub(super) fn publish(mut self, path: &Path, about: &About) -> Result<Entry, CacheError> {
        match fs::remove_file(self.layer()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).step("delete", &self.layer());
            }
            _ => {}
        }
        about.write(&self.folder)?;
        // What is there and is no entry is what a crash of the machine left of one.
        if path.exists() {
            fs::remove_dir_all(path).step("delete", path)?;
        }
        fs::rename(&self.folder, path).step("rename", &self.folder)?;
        // The lock moved along; it is given up before it is taken shared, under the lock of the cache.
        self.lock = None;
        if let Some(root) = path.parent() {
            File::open(root).and_then(|root| root.sync_all()).step("write", root)?;
        }
        Entry::open(path)?.ok_or_else(|| CacheError::Disk {
            verb: "read",
            path: path.to_owned(),
            source: io::Error::from(io::ErrorKind::NotFound),
        })
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // What is left of it is cleared away by the next that opens the cache.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
