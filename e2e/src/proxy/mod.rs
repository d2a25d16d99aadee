//! A proxy between the operator and the API server that records, and breaks what a test wants broken.
//!
//! Its clients speak plain HTTP on loopback, with a kubeconfig that it writes; it speaks TLS to the API server
//! and hands on what its clients say of themselves. Answers to reads are passed on as they come; a write is
//! looked at: its object is read before it, so that the record tells whether it changed anything.
//!
//! ```no_run
//! # async fn example(plane: &e2e::ControlPlane) -> Result<(), Box<dyn std::error::Error>> {
//! use e2e::proxy::{Answer, Fault, FaultProxy, Moment};
//!
//! let proxy = FaultProxy::start(plane).await?;
//! proxy.set_rule(|moment, record| {
//!     let is_first = moment == Moment::Arrived && record.number < 10;
//!     is_first.then(|| Fault::Answer(Answer::too_many(1)))
//! });
//! let options = e2e::OperatorOptions { kubeconfig: Some(proxy.kubeconfig().to_owned()), ..Default::default() };
//! let operator = e2e::Operator::start(plane, options)?;
//! # Ok(()) }
//! ```

mod error;
mod exchange;
mod record;
mod request;
mod rule;
mod upstream;
mod wire;

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::ControlPlane;
use crate::kubeconfig::{DeriveError, derive, entries};
use exchange::Shared;
use record::Log;
use upstream::Upstream;
use wire::{Connection, Wire};

pub use error::ProxyError;
pub use record::{Effect, Record};
pub use request::{ApiRequest, Verb};
pub use rule::{Action, Answer, Fault, Moment, Rule};

/// How many requests a message about unrest shows.
const SHOWN: usize = 5;

/// A running proxy. Dropped, it and all connections through it end.
pub struct FaultProxy {
    shared: Arc<Shared>,
    kubeconfig: PathBuf,
    task: AbortHandle,
}

impl FaultProxy {
    /// Starts a proxy in front of a control plane, on the current runtime.
    ///
    /// # Errors
    /// [`ProxyError`] if there is no port, or the cluster's kubeconfig cannot be used.
    pub async fn start(plane: &ControlPlane) -> Result<Self, ProxyError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);

        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let kubeconfig = plane.state().join(format!("proxy-{number}.kubeconfig"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(ProxyError::Listen)?;
        let address = listener.local_addr().map_err(ProxyError::Listen)?;
        write_kubeconfig(plane.kubeconfig(), &kubeconfig, &format!("http://{address}"))?;
        let shared = Arc::new(Shared {
            upstream: Upstream::new(plane.kubeconfig()).await?,
            log: Log::default(),
            rule: Mutex::default(),
            gate: Arc::default(),
            crashes: AtomicU64::new(0),
        });
        let task = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { shared, kubeconfig, task })
    }

    /// The kubeconfig for its clients: the cluster's, with the proxy as server.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Sets the rule that every request is asked about from now on.
    pub fn set_rule(&self, rule: impl Fn(Moment, &Record) -> Option<Fault> + Send + Sync + 'static) {
        *self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(rule));
    }

    /// Lets everything through from now on.
    pub fn clear_rule(&self) {
        *self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// How many requests have arrived so far: a mark for [`FaultProxy::since`].
    #[must_use]
    pub fn mark(&self) -> usize {
        self.shared.log.len()
    }

    /// What arrived since a mark, in the order of arrival.
    #[must_use]
    pub fn since(&self, mark: usize) -> Vec<Record> {
        self.shared.log.since(mark)
    }

    /// Waits until only watches and leader election were seen for a while.
    ///
    /// # Errors
    /// [`ProxyError::NotQuiet`] with the last requests, if the deadline passes first.
    pub async fn wait_until_quiet(&self, quiet: Duration, within: Duration) -> Result<(), ProxyError> {
        let ended = tokio::time::timeout(within, self.shared.log.quiet(quiet)).await;
        ended.map_err(|_| {
            let seen = self.since(0);
            let last = seen.iter().rev().filter(|record| !record.is_background()).take(SHOWN);
            let last: Vec<String> = last.map(ToString::to_string).collect();
            ProxyError::NotQuiet { quiet, within, last: last.join(", ") }
        })
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, shared.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // Answers are small, and a client waits for each.
    let _ = stream.set_nodelay(true);
    let connection = Arc::new(Connection::new(shared.crashes.load(Ordering::SeqCst)));
    let wire = Wire { stream, connection: connection.clone() };
    let service = service_fn(move |request| exchange::serve(shared.clone(), connection.clone(), request));
    // An error is a client that went away, or a connection that a rule cut.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(wire), service).await;
}

/// Writes the kubeconfig of a cluster with another server. The proxy itself has the certificates.
fn write_kubeconfig(original: &Path, copy: &Path, server: &str) -> Result<(), ProxyError> {
    let derived = derive(original, copy, |content| {
        for cluster in entries(content, "clusters") {
            cluster["cluster"] = serde_json::json!({"server": server});
        }
        for user in entries(content, "users") {
            if let Some(user) = user["user"].as_object_mut() {
                user.retain(|key, _| !key.starts_with("client-"));
            }
        }
    });
    derived.map_err(|error| match error {
        DeriveError::Read { path, source } => ProxyError::Read { path, source },
        DeriveError::Write { path, source } => ProxyError::Write { path, source },
    })
}
