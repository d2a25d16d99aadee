//! A server that answers with the statuses that it is told, in their order.

use operator_net::Url;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// Says nothing, and keeps the connection open.
pub(super) const SILENCE: u16 = 0;

pub(super) struct Server {
    pub(super) url: Url,
    task: JoinHandle<Vec<String>>,
}

impl Server {
    pub(super) async fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let statuses = statuses.to_vec();
        Self { url, task: tokio::spawn(async move { serve(&listener, &statuses).await }) }
    }

    /// The bodies that were posted, once each status was told.
    pub(super) async fn bodies(self) -> Vec<String> {
        self.task.await.unwrap()
    }
}

async fn serve(listener: &TcpListener, statuses: &[u16]) -> Vec<String> {
    let (mut bodies, mut silenced) = (Vec::new(), Vec::new());
    for status in statuses {
        let mut stream = listener.accept().await.unwrap().0;
        bodies.push(read_body(&mut stream).await);
        if *status == SILENCE {
            silenced.push(stream);
            continue;
        }
        let answer = format!("HTTP/1.1 {status} Word\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
    bodies
}

async fn read_body(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let request = String::from_utf8(text.clone()).unwrap_or_default();
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            assert!(head.starts_with("POST / HTTP/1.1\r\n"), "{head}");
            assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() == length.parse::<usize>().unwrap() {
                return body.to_owned();
            }
        }
        assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0, "the request ended early: {request}");
    }
}
