//! What comes from outside the binary as files: a folder that was unpacked by hand, mounted into the pod, or
//! named on the command line. It is read under bounds.

mod folder;

pub use folder::{Folder, FolderError};
