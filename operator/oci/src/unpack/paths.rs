use std::collections::{BTreeMap, btree_map::Entry};

use super::error::Problem;

/// The longest path, in bytes; PATH_MAX is 4096, and the folder that it is unpacked to needs room too.
const MAX_PATH_BYTES: usize = 1024;

/// The longest name of a file system.
const MAX_NAME_BYTES: usize = 255;

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    File,
    Folder,
}

/// The paths that are unpacked, by what they are on a disk that does not tell upper from lower case.
#[derive(Default)]
pub(super) struct Paths(BTreeMap<String, (String, Kind)>);

impl Paths {
    pub(super) fn add_file(&mut self, path: &str) -> Result<(), Problem> {
        self.add_parents(path)?;
        self.add(path, Kind::File)
    }

    /// A folder may be there any number of times.
    pub(super) fn add_folder(&mut self, path: &str) -> Result<(), Problem> {
        self.add_parents(path)?;
        self.add(path, Kind::Folder)
    }

    fn add_parents(&mut self, path: &str) -> Result<(), Problem> {
        for (end, _) in path.match_indices('/') {
            if let Some((folder, _)) = path.split_at_checked(end) {
                self.add(folder, Kind::Folder)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &str, kind: Kind) -> Result<(), Problem> {
        match self.0.entry(path.to_lowercase()) {
            Entry::Vacant(vacant) => {
                vacant.insert((path.to_owned(), kind));
                Ok(())
            }
            Entry::Occupied(occupied) => {
                let (other, other_kind) = occupied.get();
                match (other == path, *other_kind, kind) {
                    (true, Kind::Folder, Kind::Folder) => Ok(()),
                    (true, Kind::File, Kind::File) => Err(Problem::Twice),
                    (true, _, _) => Err(Problem::FileAndFolder),
                    (false, _, _) => Err(Problem::CaseTwin { other: other.clone() }),
                }
            }
        }
    }
}

/// The path below the target; empty for the target itself.
pub(super) fn normalize(name: &[u8], max_depth: usize) -> Result<String, Problem> {
    let name = std::str::from_utf8(name).map_err(|_| Problem::Name)?;
    if name.is_empty()
        || name.len() > MAX_PATH_BYTES
        || name.contains('\\')
        || name.contains(char::is_control)
    {
        return Err(Problem::Name);
    }
    if name.starts_with('/') {
        return Err(Problem::Absolute);
    }
    let mut parts = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(Problem::Outside),
            part if part.len() > MAX_NAME_BYTES => return Err(Problem::Name),
            part => parts.push(part),
        }
    }
    if parts.len() > max_depth.saturating_add(1) {
        return Err(Problem::Depth { limit: max_depth });
    }
    Ok(parts.join("/"))
}
