use std::io::{self, Read};

/// Reads so many bytes and then fails.
pub(super) struct Ceiling<R> {
    inner: R,
    left: u64,
}

/// That there is more than allowed.
#[derive(Debug, thiserror::Error)]
#[error("there are more bytes than allowed")]
pub(super) struct CeilingHit;

impl<R> Ceiling<R> {
    pub(super) fn new(inner: R, limit: u64) -> Self {
        Self { inner, left: limit }
    }
}

impl<R: Read> Read for Ceiling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => {
                self.left = left;
                Ok(count)
            }
            None => Err(io::Error::other(CeilingHit)),
        }
    }
}
