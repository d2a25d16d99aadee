//! `serve`: the wiring of the operator.

mod flags;
mod later_flags;

use std::{env, io, time::Duration};

use kube::Client;
use operator_cluster::{
    client::{ConnectError, ConnectOptions},
    events::Events,
    lease::{Leadership, LeaseError, Loss},
    notifications::{Notifications, NotificationsError},
};
use operator_reconcile::FluxInstanceReconciler;
use operator_telemetry::{
    Health, LogError, Metrics, OperatorInfo, Phase, ServerError, Servers, start_logging,
};
use thiserror::Error;
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing::{error, info, warn};

pub(crate) use flags::{Flags, FlagsError};

/// Threads that run the reconcilers: they mostly wait for the API server.
const WORKER_THREADS: usize = 2;

/// How long work that cannot be interrupted may hold up the end.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

/// Why the operator does not run, or stopped.
#[derive(Debug, Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Flags(#[from] FlagsError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("failed to start the runtime")]
    Runtime(#[source] io::Error),
    #[error("failed to listen for signals")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Notifications(#[from] NotificationsError),
    #[error(transparent)]
    Lease(#[from] LeaseError),
    #[error("the operator stopped because it does not lead any more")]
    Lost(#[source] Loss),
}

/// Runs the operator until SIGTERM or SIGINT.
pub(crate) fn serve(flags: Flags, cluster: &ConnectOptions) -> Result<(), ServeError> {
    let flags = flags.with_environment(|variable| env::var(variable).ok())?;
    start_logging(flags.log_level, flags.log_encoding)?;
    let runtime = runtime().map_err(ServeError::Runtime)?;
    let outcome = runtime.block_on(run(flags, cluster));
    // A build that waits for a hung disk does not hold up the end.
    runtime.shutdown_timeout(STOP_DEADLINE);
    outcome
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(WORKER_THREADS).enable_all().build()
}

async fn run(flags: Flags, cluster: &ConnectOptions) -> Result<(), ServeError> {
    let stop = stop_signal()?;
    info!(version = env!("CARGO_PKG_VERSION"), namespace = flags.namespace(), "operator started");
    let without_effect = flags.without_effect();
    if !without_effect.is_empty() {
        warn!(flags = without_effect.join(","), "these flags have no effect yet");
    }
    let (metrics, health) = (Metrics::new(&operator_info()), Health::default());
    let servers = Servers::bind(&flags.servers(), metrics.clone(), health.clone()).await?;
    let client = cluster.connect().await?.client;
    let operator = Operator {
        events: Events::new(client.clone(), flags.pod_name())
            .with_notifications(Notifications::start(flags.destination())?),
        client,
        flags,
        metrics,
        health: health.clone(),
    };
    let work = async {
        let outcome = Box::pin(operator.lead(stop)).await;
        health.set(Phase::Stopping);
        outcome
    };
    let ended = watch::Sender::new(());
    let mut end = ended.subscribe();
    let (outcome, ()) = tokio::join!(
        async {
            let outcome = work.await;
            ended.send_replace(());
            outcome
        },
        servers.run(async move {
            // A dropped sender is an end too.
            let _ = end.changed().await;
        })
    );
    info!("operator stopped");
    outcome
}

/// What the operator works with.
struct Operator {
    flags: Flags,
    client: Client,
    events: Events,
    metrics: Metrics,
    health: Health,
}

impl Operator {
    /// Works while this process leads.
    async fn lead(self, stop: watch::Receiver<bool>) -> Result<(), ServeError> {
        let Self { flags, client, events, metrics, health } = self;
        let reconciler =
            FluxInstanceReconciler::new(client.clone(), flags.settings(), events, metrics.clone());
        if !flags.enable_leader_election {
            health.set(Phase::Leading);
            tokio::select! {
                () = reconciler.run() => {}
                () = stopped(stop) => {}
            }
            return Ok(());
        }
        health.set(Phase::Waiting);
        let lease = flags.lease();
        let leadership = tokio::select! {
            leadership = Leadership::acquire(client, lease.clone()) => leadership?,
            () = stopped(stop.clone()) => return Ok(()),
        };
        health.set(Phase::Leading);
        metrics.set_leadership(&lease.name, operator_telemetry::Leadership::Leader);
        let loss = tokio::select! {
            () = reconciler.run() => None,
            loss = leadership.lost() => Some(loss),
            () = stopped(stop) => None,
        };
        metrics.set_leadership(&lease.name, operator_telemetry::Leadership::Backup);
        if let Some(loss) = loss {
            return Err(ServeError::Lost(loss));
        }
        if flags.leader_election_release_on_cancel
            && let Err(problem) = leadership.release().await
        {
            error!(error = operator_cluster::explain(&problem), "the lease is not released");
        }
        Ok(())
    }
}

/// Becomes true on SIGTERM or SIGINT.
fn stop_signal() -> Result<watch::Receiver<bool>, ServeError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::Signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
    });
    Ok(receiver)
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // A sender that is gone cannot tell to go on.
    let _ = stop.wait_for(|is_stopped| *is_stopped).await;
}

fn operator_info() -> OperatorInfo {
    OperatorInfo {
        version: format!("v{}", env!("CARGO_PKG_VERSION")),
        api_version: format!("{}/{}", crds::GROUP, crds::VERSION),
        platform: format!("{}/{}", env::consts::OS, architecture()),
    }
}

/// The processor in the words of container images.
fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
