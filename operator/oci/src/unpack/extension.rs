use std::{borrow::Cow, io::Read};

use tar::{Entry, EntryType};

use super::{
    UnpackLimits,
    error::{self, Problem, UnpackError},
};

/// How much may extend the header of one entry, in bytes: a long path and some attributes.
const MAX_EXTENSION_BYTES: u64 = 64 * 1024;

/// What extends the header of the next entry: long names of GNU tar, records of pax.
#[derive(Default)]
pub(super) struct Extensions {
    long_name: Option<Vec<u8>>,
    has_long_link: bool,
    records: Option<Vec<u8>>,
}

impl Extensions {
    /// Takes an entry that is no file but extends the next; returns whether it did.
    pub(super) fn take(
        &mut self,
        entry: &mut Entry<'_, impl Read>,
        limits: &UnpackLimits,
    ) -> Result<bool, UnpackError> {
        let kind = entry.header().entry_type();
        match kind {
            EntryType::GNULongName => self.long_name = Some(read(entry, limits)?),
            EntryType::XHeader => self.records = Some(read(entry, limits)?),
            // The target of a link, which is refused; and what is said of all entries, which is nothing of ours.
            EntryType::GNULongLink => {
                read(entry, limits)?;
                self.has_long_link = true;
            }
            EntryType::XGlobalHeader => {
                read(entry, limits)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.long_name.is_none() && self.records.is_none() && !self.has_long_link
    }

    /// The name of the entry.
    pub(super) fn name(&self, entry: &Entry<'_, impl Read>) -> Vec<u8> {
        if let Some(path) = self.record("path") {
            return path;
        }
        match &self.long_name {
            Some(name) => name.strip_suffix(b"\0").unwrap_or(name).to_vec(),
            None => match entry.header().path_bytes() {
                Cow::Borrowed(name) => name.to_vec(),
                Cow::Owned(name) => name,
            },
        }
    }

    /// The size that pax gives, if it does; what cannot be read is no size of any file.
    pub(super) fn size(&self) -> Option<u64> {
        let size = self.record("size")?;
        Some(std::str::from_utf8(&size).ok().and_then(|size| size.parse().ok()).unwrap_or(u64::MAX))
    }

    fn record(&self, key: &str) -> Option<Vec<u8>> {
        let records = tar::PaxExtensions::new(self.records.as_deref()?);
        // The last one counts.
        let found = records.filter_map(Result::ok).filter(|record| record.key_bytes() == key.as_bytes());
        found.last().map(|record| record.value_bytes().to_vec())
    }
}

fn read(entry: &mut Entry<'_, impl Read>, limits: &UnpackLimits) -> Result<Vec<u8>, UnpackError> {
    let size = entry.size();
    let name = error::shown(&entry.header().path_bytes());
    if size > MAX_EXTENSION_BYTES {
        let problem = Problem::Extension { size, limit: MAX_EXTENSION_BYTES };
        return Err(UnpackError::Entry { name, problem });
    }
    let mut bytes = Vec::new();
    entry
        .read_to_end(&mut bytes)
        .map_err(|source| UnpackError::Entry { name, problem: error::within(source, limits) })?;
    Ok(bytes)
}
