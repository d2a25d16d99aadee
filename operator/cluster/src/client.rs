//! The connection to the API server.

use std::time::Duration;

use kube::{Client, Config};
use thiserror::Error;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no connection.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ConnectError {
    #[error(
        "failed to find a cluster: neither the environment of a pod nor a kubeconfig (KUBECONFIG, ~/.kube/config) can be used"
    )]
    Configuration(#[source] Box<kube::config::InferConfigError>),
    #[error("failed to set up the connection to the cluster")]
    Client(#[source] Box<kube::Error>),
}

/// Connects to the cluster of the pod, or of the kubeconfig outside one.
///
/// # Errors
/// When neither is there, or it cannot be used. The API server need not answer yet.
pub async fn connect() -> Result<Client, ConnectError> {
    let mut config = Config::infer().await.map_err(|error| ConnectError::Configuration(Box::new(error)))?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Client::try_from(config).map_err(|error| ConnectError::Client(Box::new(error)))
}
