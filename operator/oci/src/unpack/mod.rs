//! Archives of files, unpacked under ceilings.
//!
//! # Guarantees
//! Nothing is written but regular files and folders below the target, each name once, with modes of our own. What an
//! archive can take is bounded before it is written: entries, depth, sizes, and whatever its compression hides.
//!
//! # Assumptions
//! The target is an empty folder that nobody else writes to.

mod ceiling;
mod error;
mod extension;
mod paths;

use std::{
    fs::{self, File},
    io::{self, Read, Write as _},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

pub use error::{Problem, UnpackError};

use ceiling::Ceiling;
use extension::Extensions;
use paths::Paths;

/// What an archive may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UnpackLimits {
    /// How many bytes it has without its compression, all of it.
    pub bytes: u64,
    /// How many bytes one file has.
    pub file_bytes: u64,
    /// How many entries, folders included.
    pub entries: usize,
    /// How many folders are within each other.
    pub depth: usize,
}

impl Default for UnpackLimits {
    /// 100 MiB, seven times what all releases of Flux have; 10 MiB a file, which is what is read of one; 20,000
    /// entries; 32 folders within each other.
    fn default() -> Self {
        Self {
            bytes: 100 * 1024 * 1024,
            file_bytes: operator_guard::MAX_FILE_BYTES,
            entries: 20_000,
            depth: 32,
        }
    }
}

/// How many bytes are moved at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// Bits of a mode that make a program more than its user, and folders special.
const SPECIAL_MODE_BITS: u32 = 0o7000;

/// Unpacks an archive by tar and gzip into a folder. Returns how many bytes the files have. Waits for the disk.
///
/// # Errors
/// At the first entry that is not allowed, or when the archive is damaged or the disk full. What was unpacked before
/// is left behind.
pub fn unpack(archive: impl Read, target: &Path, limits: &UnpackLimits) -> Result<u64, UnpackError> {
    let plain = Ceiling::new(MultiGzDecoder::new(archive), limits.bytes);
    let mut archive = Archive::new(plain);
    let mut unpacking = Unpacking { target, limits, paths: Paths::default(), bytes: 0 };
    unpacking.entries(&mut archive)?;
    // The checksum is at the end, and so is what hides behind the last entry.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(|source| error::reading(source, limits))?;
    Ok(unpacking.bytes)
}

struct Unpacking<'a> {
    target: &'a Path,
    limits: &'a UnpackLimits,
    paths: Paths,
    bytes: u64,
}

impl Unpacking<'_> {
    fn entries(&mut self, archive: &mut Archive<impl Read>) -> Result<(), UnpackError> {
        let limits = self.limits;
        let reading = |source| error::reading(source, limits);
        let mut extensions = Extensions::default();
        // Raw: what extends an entry is bounded here, which the reader does not do.
        for (index, entry) in archive.entries().map_err(reading)?.raw(true).enumerate() {
            let mut entry = entry.map_err(reading)?;
            if index >= limits.entries {
                return Err(UnpackError::TooManyEntries { limit: limits.entries });
            }
            if extensions.take(&mut entry, limits)? {
                continue;
            }
            let extension = std::mem::take(&mut extensions);
            let name = extension.name(&entry);
            let header = entry.header();
            let facts = Facts {
                kind: header.entry_type(),
                mode: header.mode().map_err(reading)?,
                size: entry.size(),
                announced: extension.size(),
            };
            self.entry(&name, facts, &mut entry)
                .map_err(|problem| UnpackError::Entry { name: error::shown(&name), problem })?;
        }
        if extensions.is_empty() { Ok(()) } else { Err(UnpackError::Truncated) }
    }

    fn entry(&mut self, name: &[u8], facts: Facts, content: &mut impl Read) -> Result<(), Problem> {
        let kind = facts.kind;
        if kind.is_symlink() || kind.is_hard_link() {
            return Err(Problem::Link);
        }
        if !(kind.is_file() || kind.is_contiguous() || kind.is_dir()) {
            return Err(Problem::Kind { kind: char::from(kind.as_byte()) });
        }
        if facts.mode & SPECIAL_MODE_BITS != 0 {
            return Err(Problem::Mode { mode: facts.mode });
        }
        if facts.announced.is_some_and(|size| size != facts.size) {
            return Err(Problem::Sizes);
        }
        let path = paths::normalize(name, self.limits.depth)?;
        // The root itself, which many archives begin with.
        if path.is_empty() {
            return if kind.is_dir() { Ok(()) } else { Err(Problem::Name) };
        }
        if kind.is_dir() {
            self.paths.add_folder(&path)?;
            return fs::create_dir_all(self.target.join(&path)).map_err(Problem::Write);
        }
        if facts.size > self.limits.file_bytes {
            return Err(Problem::TooLarge { size: facts.size, limit: self.limits.file_bytes });
        }
        self.paths.add_file(&path)?;
        self.file(&self.target.join(&path), facts.size, content)
    }

    fn file(&mut self, path: &Path, size: u64, content: &mut impl Read) -> Result<(), Problem> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Problem::Write)?;
        }
        let mut file = File::create_new(path).map_err(Problem::Write)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut written = 0_u64;
        loop {
            let count = content.read(&mut buffer).map_err(|source| error::within(source, self.limits))?;
            let Some(piece) = buffer.get(..count).filter(|piece| !piece.is_empty()) else { break };
            file.write_all(piece).map_err(Problem::Write)?;
            written = written.saturating_add(piece.len() as u64);
        }
        if written != size {
            return Err(Problem::Truncated);
        }
        // A cache entry must be whole after a crash of the machine too.
        file.sync_all().map_err(Problem::Write)?;
        self.bytes = self.bytes.saturating_add(written);
        Ok(())
    }
}

/// What the header of an entry says.
#[derive(Clone, Copy)]
struct Facts {
    kind: EntryType,
    mode: u32,
    size: u64,
    announced: Option<u64>,
}

#[cfg(test)]
mod tests;
