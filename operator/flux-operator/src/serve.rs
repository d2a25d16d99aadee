//! `serve`: the operator.

use std::{collections::BTreeSet, env, io, path::PathBuf};

use clap::Args;
use crds::DEFAULT_NAMESPACE;
use operator_cluster::client::{ConnectError, connect};
use operator_reconcile::{FluxInstanceReconciler, Settings};
use operator_telemetry::{LogEncoding, LogError, LogLevel, start_logging};
use thiserror::Error;
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};
use tracing::info;

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Folder with the manifests of Flux: flux/<version>/<component>.yaml. Where it has none, those inside
    /// the binary are used
    #[arg(long, value_name = "DIR", default_value = "/data")]
    storage_path: PathBuf,

    /// How much is logged
    #[arg(long, value_enum, default_value_t)]
    log_level: LogLevel,

    /// How log lines are written
    #[arg(long, value_enum, default_value_t)]
    log_encoding: LogEncoding,

    /// Namespace of the operator, of its FluxInstance and of Flux
    #[arg(long, env = "RUNTIME_NAMESPACE", value_name = "NAMESPACE", default_value = DEFAULT_NAMESPACE, hide = true)]
    runtime_namespace: String,
}

/// Why the operator does not run.
#[derive(Debug, Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("failed to start the runtime")]
    Runtime(#[source] io::Error),
    #[error("failed to listen for signals")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

impl Serve {
    /// Runs until SIGTERM or SIGINT.
    pub(crate) fn run(self) -> Result<(), ServeError> {
        start_logging(self.log_level, self.log_encoding)?;
        Runtime::new().map_err(ServeError::Runtime)?.block_on(self.serve())
    }

    async fn serve(self) -> Result<(), ServeError> {
        let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::Signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
        let settings = Settings {
            namespace: self.runtime_namespace,
            storage_path: self.storage_path,
            pod_name: env::var("HOSTNAME").ok(),
            override_managers: BTreeSet::new(),
        };
        info!(version = env!("CARGO_PKG_VERSION"), namespace = settings.namespace, "operator started");
        let reconciler = FluxInstanceReconciler::new(connect().await?, settings);
        tokio::select! {
            () = reconciler.run() => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        info!("operator stopped");
        Ok(())
    }
}
