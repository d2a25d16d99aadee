//! A server that plays the event endpoint of notification-controller.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Keeps the events that are posted to it, and answers once it may.
pub(crate) struct Receiver {
    pub(crate) url: String,
    events: mpsc::UnboundedReceiver<Value>,
    may_answer: watch::Sender<bool>,
    _connections: JoinSet<()>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (sender, events) = mpsc::unbounded_channel();
        let (may_answer, answers) = watch::channel(true);
        let mut connections = JoinSet::new();
        connections.spawn(async move {
            let mut open = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (sender, answers) = (sender.clone(), answers.clone());
                let service = service_fn(move |request| receive(request, sender.clone(), answers.clone()));
                open.spawn(async move {
                    // An error is a client that went away.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, events, may_answer, _connections: connections }
    }

    /// From now on events are taken and not answered, or answered again.
    pub(crate) fn set_answering(&self, may_answer: bool) {
        self.may_answer.send_replace(may_answer);
    }

    /// The next event with a reason; those before it are passed over.
    pub(crate) async fn next(&mut self, reason: &str, within: Duration) -> Value {
        let mut passed = Vec::new();
        let found = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if event["reason"] == reason {
                    return event;
                }
                passed.push(event);
            }
        };
        let found = tokio::time::timeout(within, found).await;
        found.unwrap_or_else(|_| panic!("no event {reason} within {within:?}, only {passed:#?}"))
    }
}

async fn receive(
    request: Request<Incoming>,
    events: mpsc::UnboundedSender<Value>,
    mut may_answer: watch::Receiver<bool>,
) -> Result<Response<Empty<Bytes>>, hyper::Error> {
    let (head, body) = request.into_parts();
    assert_eq!((head.method.as_str(), head.uri.path()), ("POST", "/"));
    assert_eq!(head.headers["content-type"], "application/json");
    let body = body.collect().await?.to_bytes();
    // A test that has ended does not care.
    let _ = events.send(serde_json::from_slice(&body).unwrap());
    let _ = may_answer.wait_for(|may_answer| *may_answer).await;
    let mut response = Response::new(Empty::new());
    *response.status_mut() = StatusCode::ACCEPTED;
    Ok(response)
}
