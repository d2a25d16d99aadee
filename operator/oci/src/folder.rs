use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::PathBuf,
};

use operator_guard::{Files, FilesError, MAX_ENTRIES, MAX_FILE_BYTES};
use thiserror::Error;

/// A folder whose files are read under bounds.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
    origin: String,
}

/// Why a folder cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum FolderError {
    #[error("{} has no folder flux/ with a folder for each version of Flux, such as flux/v2.9.5/", root.display())]
    NoReleases { root: PathBuf },
    #[error("failed to read {}", root.display())]
    Unreadable { root: PathBuf, source: io::Error },
}

impl Folder {
    /// Opens the folder of a Flux distribution.
    ///
    /// # Errors
    /// When it does not hold a folder `flux/`.
    pub fn open_distribution(root: impl Into<PathBuf>) -> Result<Self, FolderError> {
        let root = root.into();
        match fs::metadata(root.join("flux")) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(FolderError::NoReleases { root }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FolderError::NoReleases { root });
            }
            Err(source) => return Err(FolderError::Unreadable { root, source }),
        }
        let origin = root.display().to_string();
        Ok(Self { root, origin })
    }

    /// The same folder under the name that people know it by.
    #[must_use]
    pub fn named(self, origin: String) -> Self {
        Self { origin, ..self }
    }
}

impl Files for Folder {
    fn origin(&self) -> &str {
        &self.origin
    }

    fn folders(&self, path: &str) -> Result<Vec<String>, FilesError> {
        let mut names = Vec::new();
        for (index, entry) in fs::read_dir(self.root.join(path))?.enumerate() {
            if index >= MAX_ENTRIES {
                return Err(FilesError::TooManyEntries);
            }
            let entry = entry?;
            if let (true, Ok(name)) = (entry.path().is_dir(), entry.file_name().into_string()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn read(&self, path: &str) -> Result<Option<String>, FilesError> {
        let path = self.root.join(path);
        // Opening a pipe would wait without end.
        match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => return Err(FilesError::NotAFile),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut text = String::new();
        file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(FilesError::FileTooLarge);
        }
        Ok(Some(text))
    }
}
