//! The folder of a control plane, which goes away with the process that made it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fs, io};

use crate::BedError;

/// Keeps the folders for a look at the logs when it is set to anything but nothing.
const KEEP: &str = "E2E_KEEP";

/// Waits for the end of its standard input, which is a pipe from us, and removes the folder: it works for a
/// static that is never dropped and for a process that was killed. A dying program may still write a file
/// into the folder, hence the repetition (4 s at most).
const KEEPER: &str = r#"cat >/dev/null
n=0
until rm -rf -- "$1" || [ "$n" -ge 40 ]; do n=$((n + 1)); sleep 0.1; done"#;

/// A folder that only this user can read.
#[derive(Debug)]
pub(crate) struct StateFolder {
    path: PathBuf,
    keeper: Option<Child>,
}

impl StateFolder {
    /// Makes a folder in the system's place for temporary files.
    pub(crate) fn temporary(name: &str) -> Result<Self, BedError> {
        let failed = |source| BedError::State { path: env::temp_dir(), source };
        let prefix = format!("flux-operator-bed-{name}-");
        let path = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(failed)?.keep();
        Self::kept(path)
    }

    /// Uses a folder that does not exist or is empty.
    pub(crate) fn at(path: &Path) -> Result<Self, BedError> {
        let failed = |source| BedError::State { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        if fs::read_dir(&path).map_err(failed)?.next().is_some() {
            return Err(BedError::StateInUse { path });
        }
        Self::kept(path)
    }

    /// Uses a folder that another process removes.
    pub(crate) fn borrowed(path: &Path) -> Self {
        Self { path: path.to_owned(), keeper: None }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file.
    pub(crate) fn write(&self, file: &str, content: &str) -> Result<(), BedError> {
        let path = self.path.join(file);
        fs::write(&path, content).map_err(|source| BedError::State { path, source })
    }

    fn kept(path: PathBuf) -> Result<Self, BedError> {
        if env::var_os(KEEP).is_some_and(|value| !value.is_empty()) {
            eprintln!("bed: {KEEP} is set: {} stays", path.display());
            return Ok(Self { path, keeper: None });
        }
        match start_keeper(&path) {
            Ok(keeper) => Ok(Self { path, keeper: Some(keeper) }),
            Err(source) => Err(BedError::Run { program: "sh".into(), source }),
        }
    }
}

impl Drop for StateFolder {
    fn drop(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            // It ends by itself, and there is nobody to tell if it did not.
            let _ = keeper.wait();
        }
    }
}

fn start_keeper(path: &Path) -> io::Result<Child> {
    use std::os::unix::process::CommandExt as _;

    Command::new("sh")
        .args(["-c", KEEPER, "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // ^C in a terminal goes to the whole group, and the keeper has to outlive us.
        .process_group(0)
        .spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_away_with_its_owner() {
        let folder = StateFolder::temporary("state-test").unwrap();
        folder.write("file", "content").unwrap();
        let path = folder.path().to_owned();
        assert!(path.join("file").exists());
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_holds_something_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "").unwrap();
        let error = StateFolder::at(folder.path()).unwrap_err();
        assert!(matches!(error, BedError::StateInUse { .. }), "{error}");
        assert!(folder.path().join("mine").exists());
    }
}
