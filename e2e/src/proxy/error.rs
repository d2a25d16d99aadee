//! What can go wrong with the proxy itself.

use std::path::PathBuf;

use crate::error::write_with_causes;

/// A step of starting the proxy, or a wait for it, that failed.
///
/// `Debug` prints the same sentences as `Display`, with the causes: it is what `unwrap` shows.
#[derive(thiserror::Error)]
pub enum ProxyError {
    /// There is no port to listen on.
    #[error("failed to listen on loopback")]
    Listen(#[source] std::io::Error),
    /// The kubeconfig of the cluster cannot be read.
    #[error("failed to read the kubeconfig {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The kubeconfig for the proxy's clients cannot be written.
    #[error("failed to write the kubeconfig {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The keys of the kubeconfig give no TLS connection.
    #[error("failed to set up TLS to the API server")]
    Tls(#[source] Box<kube::Error>),
    /// Requests did not stop.
    #[error("requests did not stop for {quiet:?} within {within:?}; the last ones: {last}")]
    NotQuiet {
        /// How long nothing was to be seen.
        quiet: std::time::Duration,
        /// The deadline.
        within: std::time::Duration,
        /// The last requests.
        last: String,
    },
}

impl std::fmt::Debug for ProxyError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_with_causes(self, formatter)
    }
}
