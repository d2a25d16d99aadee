use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::error::{CacheError, Step as _};

/// How long it is waited for a lock that is held for moments: a disk may be slow, a process be stopped.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// Opens a file that a lock is on, made when it is missing.
pub(super) fn open(path: &Path) -> Result<File, CacheError> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path).step("open", path)
}

/// Holds a lock until the file is dropped.
pub(super) fn wait_for(path: &Path) -> Result<File, CacheError> {
    let file = open(path)?;
    let started = Instant::now();
    while !try_exclusive(&file, path)? {
        if started.elapsed() > MAX_WAIT {
            return Err(CacheError::Busy { path: path.to_owned(), limit: MAX_WAIT });
        }
        thread::sleep(PAUSE);
    }
    Ok(file)
}

/// Takes a lock if nobody has it.
pub(super) fn try_exclusive(file: &File, path: &Path) -> Result<bool, CacheError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(source).step("lock", path),
    }
}

/// Takes a lock that others may have as well, if nobody has it alone.
pub(super) fn try_shared(file: &File, path: &Path) -> Result<bool, CacheError> {
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(source).step("lock", path),
    }
}
