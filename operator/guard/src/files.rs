use std::io;

use thiserror::Error;

/// The largest file that is read, in bytes: Flux's own are a fortieth of it.
pub const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;

/// The most entries of a folder that are looked at; a folder for every Flux release ever has some 150.
pub const MAX_ENTRIES: usize = 1_000;

/// A tree of text files that others wrote, read under bounds.
pub trait Files {
    /// Where the tree is, for people.
    fn origin(&self) -> &str;

    /// Names of the folders in a folder, which is relative to the root and uses `/`. A name that is not UTF-8
    /// is passed over.
    ///
    /// # Errors
    /// When the folder cannot be read, or has more than [`MAX_ENTRIES`] entries.
    fn folders(&self, path: &str) -> Result<Vec<String>, FilesError>;

    /// The text of a file, relative to the root; none when there is no such file.
    ///
    /// # Errors
    /// When it cannot be read, is not UTF-8, or has more than [`MAX_FILE_BYTES`] bytes.
    fn read(&self, path: &str) -> Result<Option<String>, FilesError>;
}

/// Why a file or folder cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum FilesError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it has more than {MAX_FILE_BYTES} bytes")]
    FileTooLarge,
    #[error("it has more than {MAX_ENTRIES} entries")]
    TooManyEntries,
}
