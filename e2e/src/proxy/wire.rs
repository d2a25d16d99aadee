//! A client's connection: one that can be reset, and that knows when an answer has left.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io::IoSlice, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// What a connection and the exchanges on it share.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// How many crashes there were when it was made.
    pub(crate) epoch: u64,
    is_reset: AtomicBool,
    /// The last bytes of an answer are on their way into the socket.
    is_ending: AtomicBool,
    sent: Mutex<Option<oneshot::Sender<()>>>,
}

impl Connection {
    /// A connection that is new.
    pub(crate) fn new(epoch: u64) -> Self {
        Self { epoch, ..Self::default() }
    }

    /// Its end will be an RST, which loses what was not read.
    pub(crate) fn reset(&self) {
        self.is_reset.store(true, Ordering::Relaxed);
    }

    /// Ends when the answer that is given next is in the socket of the client, or the connection is gone.
    pub(crate) fn sent(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// The last bytes of the answer were taken.
    pub(crate) fn end_answer(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    fn flushed(&self) {
        if self.is_ending.swap(false, Ordering::Relaxed)
            && let Some(sender) = self.sent.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            // Nobody waits any more.
            let _ = sender.send(());
        }
    }
}

/// The socket of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.connection.is_reset.load(Ordering::Relaxed) {
            // A socket that does not linger answers with RST instead of FIN. Without it, it is merely closed.
            let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The server flushes once all that it has is written.
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.connection.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
