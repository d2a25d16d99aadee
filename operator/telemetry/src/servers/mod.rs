//! The two servers: metrics for Prometheus, probes for kubelet.

mod address;
mod connection;
mod routes;

use std::{
    future::Future,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use axum::Router;
use thiserror::Error;
use tokio::{
    join,
    net::TcpListener,
    select,
    sync::watch,
    time::{sleep, timeout},
};

use crate::{Health, Metrics};

pub use address::{AddressError, ListenAddress};

use connection::{BoundedListener, Connections};

/// The flag that says where metrics are served.
const METRICS_FLAG: &str = "--metrics-addr";

/// The flag that says where probes are answered.
const HEALTH_FLAG: &str = "--health-addr";

/// How long the name of a host may take to resolve.
const BIND_DEADLINE: Duration = Duration::from_secs(5);

/// How long responses may take that are under way when the servers are told to stop.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

/// Where the servers listen.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// `/metrics`.
    pub metrics: ListenAddress,
    /// `/healthz` and `/readyz`.
    pub health: ListenAddress,
}

impl Default for ServerSettings {
    /// `:8080` and `:8081`.
    fn default() -> Self {
        Self {
            metrics: ListenAddress::Everywhere { port: 8080 },
            health: ListenAddress::Everywhere { port: 8081 },
        }
    }
}

/// Why a server does not start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address cannot be had.
    #[error(
        "failed to listen on `{address}`: set {flag} to a free port such as `:18080`, or to `0` for no server"
    )]
    Bind {
        /// The flag that holds the address.
        flag: &'static str,
        /// The address in it.
        address: ListenAddress,
        /// What the system says.
        source: io::Error,
    },
}

/// Servers that hold their ports. Clients that come before [`run`](Self::run) wait.
#[derive(Debug)]
pub struct Servers {
    metrics: Option<Server>,
    health: Option<Server>,
}

#[derive(Debug)]
struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
}

impl Servers {
    /// Takes the ports.
    ///
    /// # Errors
    /// When an address cannot be had.
    pub async fn bind(
        settings: &ServerSettings,
        metrics: Metrics,
        health: Health,
    ) -> Result<Self, ServerError> {
        Ok(Self {
            metrics: Server::bind(METRICS_FLAG, &settings.metrics, routes::metrics(metrics)).await?,
            health: Server::bind(HEALTH_FLAG, &settings.health, routes::health(health)).await?,
        })
    }

    /// Where metrics are served. None when they are not.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|server| server.address)
    }

    /// Where probes are answered. None when they are not.
    #[must_use]
    pub fn health_address(&self) -> Option<SocketAddr> {
        self.health.as_ref().map(|server| server.address)
    }

    /// Answers until `shutdown` is ready; then takes no new connections, and ends the open ones at the
    /// latest two seconds later.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let (stop, stopped) = watch::channel(());
        let serve = async |server: Option<Server>, stopped| {
            if let Some(server) = server {
                server.run(stopped).await;
            }
        };
        let stop = async {
            shutdown.await;
            drop(stop);
        };
        join!(serve(self.metrics, stopped.clone()), serve(self.health, stopped), stop);
    }
}

impl Server {
    async fn bind(
        flag: &'static str,
        address: &ListenAddress,
        router: Router,
    ) -> Result<Option<Self>, ServerError> {
        let bound = async {
            let Some(listener) = listen(address).await? else { return Ok(None) };
            Ok(Some(Self { address: listener.local_addr()?, listener, router }))
        };
        bound.await.map_err(|source| ServerError::Bind { flag, address: address.clone(), source })
    }

    async fn run(self, stopped: watch::Receiver<()>) {
        let connections = Connections::default();
        let listener = BoundedListener { listener: self.listener, connections: connections.clone() };
        let server = axum::serve(listener, self.router).with_graceful_shutdown(until(stopped.clone()));
        let deadline = async {
            until(stopped).await;
            sleep(STOP_DEADLINE).await;
        };
        select! {
            // It ends when it was stopped, and with no error.
            _ = server => {}
            () = deadline => {}
        }
        // What is still open ends here.
        drop(connections);
    }
}

/// Ready once the sender is gone.
async fn until(mut stopped: watch::Receiver<()>) {
    while stopped.changed().await.is_ok() {}
}

async fn listen(address: &ListenAddress) -> io::Result<Option<TcpListener>> {
    let listener = match address {
        ListenAddress::Off => return Ok(None),
        ListenAddress::Everywhere { port } => listen_everywhere(*port).await?,
        ListenAddress::Host { host, port } => {
            timeout(BIND_DEADLINE, TcpListener::bind((host.as_str(), *port))).await??
        }
    };
    Ok(Some(listener))
}

/// A socket of IPv6 takes both kinds of clients; where the machine has none, one of IPv4.
async fn listen_everywhere(port: u16) -> io::Result<TcpListener> {
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Err(error) if !matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await
        }
        result => result,
    }
}
