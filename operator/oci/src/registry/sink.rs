use std::io::{self, SeekFrom};

use tokio::{
    fs::File,
    io::{AsyncSeekExt as _, AsyncWriteExt as _},
};

/// Where a blob goes.
#[derive(Debug)]
pub(crate) enum Sink {
    Memory(Vec<u8>),
    File(File),
}

impl Sink {
    /// Forgets what was written.
    pub(crate) async fn restart(&mut self) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.clear(),
            Self::File(file) => {
                file.set_len(0).await?;
                file.seek(SeekFrom::Start(0)).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.extend_from_slice(piece),
            Self::File(file) => file.write_all(piece).await?,
        }
        Ok(())
    }

    /// Waits until all of it was handed to the system.
    pub(crate) async fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::File(file) => file.flush().await,
        }
    }
}
