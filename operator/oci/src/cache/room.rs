use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    CacheLimits, DRAFT, ENTRY, LOCK,
    entry::About,
    error::{CacheError, Step as _},
    lock, names,
};

struct Old {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// Takes entries away until one of `needed` bytes finds room, the longest unused first, under the lock of the cache.
/// Returns folders that are to be deleted.
pub(super) fn make(root: &Path, limits: &CacheLimits, needed: u64) -> Result<Vec<PathBuf>, CacheError> {
    let mut old = entries(root)?;
    old.sort_by_key(|entry| entry.used);
    let (mut count, mut bytes) = (old.len(), old.iter().map(|entry| entry.bytes).sum::<u64>());
    let mut garbage = Vec::new();
    for entry in old {
        if count < limits.entries && bytes.saturating_add(needed) <= limits.bytes {
            break;
        }
        if let Some(folder) = take_away(root, &entry.path)? {
            garbage.push(folder);
            count = count.saturating_sub(1);
            bytes = bytes.saturating_sub(entry.bytes);
        }
    }
    if count < limits.entries && bytes.saturating_add(needed) <= limits.bytes {
        return Ok(garbage);
    }
    delete(&garbage);
    Err(CacheError::Full { needed })
}

/// The drafts whose process is gone, under the lock of the cache.
pub(super) fn dead_drafts(root: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let mut dead = Vec::new();
    for name in names(root)?.into_iter().filter(|name| name.starts_with(DRAFT)) {
        let folder = root.join(name);
        if is_free(&folder)? {
            dead.push(folder);
        }
    }
    Ok(dead)
}

/// Deletes folders. What cannot be deleted now is found again later.
pub(super) fn delete(folders: &[PathBuf]) {
    for folder in folders {
        if let Err(error) = fs::remove_dir_all(folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(folder = %folder.display(), %error, "failed to delete an artifact from the cache");
        }
    }
}

fn entries(root: &Path) -> Result<Vec<Old>, CacheError> {
    let mut entries = Vec::new();
    for name in names(root)?.into_iter().filter(|name| name.starts_with(ENTRY)) {
        let path = root.join(name);
        let used = fs::metadata(path.join(LOCK)).and_then(|metadata| metadata.modified());
        let bytes = About::read(&path)?.map_or(0, |about| about.bytes);
        entries.push(Old { path, bytes, used: used.unwrap_or(SystemTime::UNIX_EPOCH) });
    }
    Ok(entries)
}

/// Makes garbage of an entry that nobody reads.
fn take_away(root: &Path, entry: &Path) -> Result<Option<PathBuf>, CacheError> {
    if !is_free(entry)? {
        return Ok(None);
    }
    let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let garbage = root.join(format!("{DRAFT}old-{name}"));
    match fs::remove_dir_all(&garbage) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).step("delete", &garbage),
        _ => {}
    }
    fs::rename(entry, &garbage).step("rename", entry)?;
    Ok(Some(garbage))
}

/// Whether nobody holds the lock of a folder.
fn is_free(folder: &Path) -> Result<bool, CacheError> {
    let path = folder.join(LOCK);
    match fs::OpenOptions::new().write(true).open(&path) {
        Ok(file) => lock::try_exclusive(&file, &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).step("open", &path),
    }
}
