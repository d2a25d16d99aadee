use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{
    ABOUT, FILES, LOCK,
    error::{CacheError, Step as _},
    lock,
};
use crate::digest::Digest;

/// A complete artifact on disk, which nobody deletes as long as this lives.
#[derive(Debug)]
pub(crate) struct Entry {
    files: PathBuf,
    image: Digest,
    /// Held shared.
    _lock: File,
}

/// What is told of an entry.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct About {
    /// The digest of the image.
    pub(crate) image: String,
    /// The size of the files.
    pub(crate) bytes: u64,
}

impl Entry {
    /// The entry in a folder, under the lock of the cache; none when there is none. What is not complete is none.
    pub(super) fn open(folder: &Path) -> Result<Option<Self>, CacheError> {
        let Some(about) = About::read(folder)? else { return Ok(None) };
        let Ok(image) = about.image.parse() else { return Ok(None) };
        let path = folder.join(LOCK);
        let file = lock::open(&path)?;
        if !lock::try_shared(&file, &path)? {
            return Ok(None);
        }
        // What was used last goes last.
        file.set_modified(SystemTime::now()).step("touch", &path)?;
        Ok(Some(Self { files: folder.join(FILES), image, _lock: file }))
    }

    pub(crate) fn files(&self) -> &Path {
        &self.files
    }

    pub(crate) fn image_digest(&self) -> Digest {
        self.image
    }
}

impl About {
    /// None when the file is missing or not whole.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, CacheError> {
        let path = folder.join(ABOUT);
        match fs::read(&path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).step("read", &path),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), CacheError> {
        let path = folder.join(ABOUT);
        let write = || {
            let mut file = File::create(&path)?;
            serde_json::to_writer(&mut file, self)?;
            file.sync_all()
        };
        write().step("write", &path)
    }
}
