//! Makes archives byte by byte, as no program would.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use tar::Header;

/// An entry as it is written, right or wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) kind: u8,
    pub(crate) mode: u32,
    pub(crate) content: &'a [u8],
}

pub(crate) const fn file<'a>(name: &'a [u8], content: &'a [u8]) -> Raw<'a> {
    Raw { name, kind: b'0', mode: 0o644, content }
}

#[derive(Default)]
pub(crate) struct Archive(Vec<u8>);

impl Archive {
    pub(crate) fn with(self, raw: &Raw<'_>) -> Self {
        let rest = (512 - raw.content.len() % 512) % 512;
        self.with_header(raw, raw.content.len() as u64).with_bytes(raw.content).with_padding(rest)
    }

    pub(crate) fn with_header(self, raw: &Raw<'_>, size: u64) -> Self {
        let mut header = Header::new_gnu();
        let length = raw.name.len().min(100);
        header.as_old_mut().name[..length].copy_from_slice(&raw.name[..length]);
        header.set_size(size);
        header.set_mode(raw.mode);
        header.as_old_mut().linkflag = [raw.kind];
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        self.with_bytes(header.as_bytes())
    }

    pub(crate) fn with_bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn with_padding(mut self, count: usize) -> Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    pub(crate) fn with_end(self) -> Self {
        self.with_padding(1024)
    }

    pub(crate) fn gzip(self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.0).unwrap();
        encoder.finish().unwrap()
    }
}
