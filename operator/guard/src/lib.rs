//! What protects the operator from bytes that others wrote. No input or output happens here: these are the
//! bounds that those who do it keep, and the errors that say which one was hit.

mod files;

pub use files::{Files, FilesError, MAX_ENTRIES, MAX_FILE_BYTES};
