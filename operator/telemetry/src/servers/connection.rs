//! Connections that nobody can hold for long.

use std::{
    collections::VecDeque,
    convert::Infallible,
    io::{self, ErrorKind},
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::{Timeout, timeout},
};

/// How long a connection may last, from its first byte to the last one of the response. It is what ends
/// clients that send or read slowly.
const CONNECTION_DEADLINE: Duration = Duration::from_secs(10);

/// How many connections a server holds at once. Each may hold a file and the bytes of a response.
const MAX_CONNECTIONS: usize = 64;

/// How many bytes a client may send: request lines and headers of Prometheus and kubelet are below 1 KiB.
const MAX_REQUEST_BYTES: usize = 16 * 1024;

/// The connections of a server that are open. When there are too many, the oldest one ends: those who open
/// many and send nothing then cannot keep kubelet from asking. All end when the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    open: Arc<Mutex<VecDeque<oneshot::Sender<Infallible>>>>,
}

impl Connections {
    /// A place for one more. The answer is ready when the connection must end.
    fn admit(&self) -> oneshot::Receiver<Infallible> {
        let (place, ended) = oneshot::channel();
        let mut open = self.open();
        open.retain(|place| !place.is_closed());
        if open.len() >= MAX_CONNECTIONS {
            open.pop_front();
        }
        open.push_back(place);
        ended
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<Infallible>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts [`Connection`]s.
pub(super) struct BoundedListener {
    pub(super) listener: TcpListener,
    pub(super) connections: Connections,
}

impl Listener for BoundedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        let end = timeout(CONNECTION_DEADLINE, self.connections.admit());
        (Connection { stream, end: Some(Box::pin(end)), unread: MAX_REQUEST_BYTES }, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails to read and write once it is too old, too big, or not welcome any more.
pub(super) struct Connection {
    stream: TcpStream,
    /// None once it came.
    end: Option<Pin<Box<Timeout<oneshot::Receiver<Infallible>>>>>,
    /// How many bytes the client may still send.
    unread: usize,
}

impl Connection {
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Some(end) = &mut self.end
            && end.as_mut().poll(context).is_pending()
        {
            return Ok(());
        }
        self.end = None;
        Err(ErrorKind::TimedOut.into())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        self.unread = self.unread.checked_sub(read).ok_or(ErrorKind::InvalidData)?;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::{Connections, MAX_CONNECTIONS};

    #[test]
    fn one_connection_too_many_ends_the_oldest_that_is_open() {
        let connections = Connections::default();
        let mut ends: Vec<_> = (0..MAX_CONNECTIONS).map(|_| connections.admit()).collect();
        drop(ends.pop());
        let mut late = [connections.admit(), connections.admit()];
        assert_eq!(ends[0].try_recv(), Err(TryRecvError::Closed));
        for end in ends[1..].iter_mut().chain(&mut late) {
            assert_eq!(end.try_recv(), Err(TryRecvError::Empty));
        }
        drop(connections);
        assert_eq!(late[1].try_recv(), Err(TryRecvError::Closed));
    }
}
