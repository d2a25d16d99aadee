//! A server that says what it is told to, byte for byte.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use operator_net::Url;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Answers requests in their order, whatever connection they come on; afterwards nobody listens.
pub(crate) struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<Vec<String>>,
}

impl Server {
    /// Starts; an empty answer is none at all, and the connection stays open.
    pub(crate) async fn start(answers: impl IntoIterator<Item = String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let answers: Vec<String> = answers.into_iter().collect();
        if answers.is_empty() {
            drop(listener);
            return Self { port, connections, task: tokio::spawn(async { Vec::new() }) };
        }
        let task = tokio::spawn(async move {
            let (mut requests, mut open) = (Vec::new(), Vec::new());
            for answer in answers {
                let request = loop {
                    if let Some(stream) = open.last_mut()
                        && let Some(request) = read(stream).await
                    {
                        break request;
                    }
                    open.push(listener.accept().await.unwrap().0);
                    counter.fetch_add(1, Ordering::SeqCst);
                };
                requests.push(request);
                open.last_mut().unwrap().write_all(answer.as_bytes()).await.unwrap();
                if answer.is_empty() || answer.ends_with("abc") {
                    std::future::pending::<()>().await;
                }
            }
            requests
        });
        Self { port, connections, task }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        format!("http://127.0.0.1:{}{path}", self.port).parse().unwrap()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// All requests, once all answers were given.
    pub(crate) async fn requests(self) -> Vec<String> {
        self.task.await.unwrap()
    }
}

/// A request with its body; none when the connection has ended.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    loop {
        let request = String::from_utf8(text.clone()).unwrap();
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() == length.map_or(0, |length| length.parse().unwrap()) {
                return Some(request);
            }
        }
        if stream.read_buf(&mut text).await.unwrap() == 0 {
            return None;
        }
    }
}
