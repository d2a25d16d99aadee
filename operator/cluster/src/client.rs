//! The connection to the API server.

use std::{path::PathBuf, time::Duration};

use http::{HeaderName, HeaderValue};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use thiserror::Error;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an open request may be silent. A watch ends by itself after 290 s, so silence beyond that is a
/// connection that died without a word.
const READ_TIMEOUT: Duration = Duration::from_mins(5);

/// Why there is no connection.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ConnectError {
    #[error(
        "failed to find a cluster: neither the environment of a pod nor a kubeconfig (KUBECONFIG, ~/.kube/config) can be used"
    )]
    Configuration(#[source] Box<kube::config::InferConfigError>),
    #[error("failed to use the kubeconfig{}", file.as_ref().map(|file| format!(" {}", file.display())).unwrap_or_default())]
    Kubeconfig { file: Option<PathBuf>, source: Box<kube::config::KubeconfigError> },
    #[error("'{name}' cannot be impersonated: it has characters that a header cannot hold")]
    Impersonation { name: String },
    #[error("failed to set up the connection to the cluster")]
    Client(#[source] Box<kube::Error>),
}

/// How a person says which cluster.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// Path of a kubeconfig; without one, `KUBECONFIG`, `~/.kube/config` or the account of the pod is used.
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; its current one by default.
    pub context: Option<String>,
    /// User to act as.
    pub user: Option<String>,
    /// Groups to act as.
    pub groups: Vec<String>,
}

/// A connection, and the namespace that its context names.
#[derive(Clone)]
pub struct Connection {
    /// The connection.
    pub client: Client,
    /// Namespace of the context; `default` when it names none.
    pub namespace: String,
}

impl ConnectOptions {
    /// Connects. The API server need not answer yet.
    ///
    /// # Errors
    /// When there is no cluster to be found, or it cannot be spoken to in this way.
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        let mut config = self.config().await?;
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config.read_timeout = Some(READ_TIMEOUT);
        config.headers.extend(self.impersonation()?);
        let namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|error| ConnectError::Client(Box::new(error)))?;
        Ok(Connection { client, namespace })
    }

    async fn config(&self) -> Result<Config, ConnectError> {
        if self.kubeconfig.is_none() && self.context.is_none() {
            return Config::infer().await.map_err(|error| ConnectError::Configuration(Box::new(error)));
        }
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        let config = match &self.kubeconfig {
            Some(file) => match Kubeconfig::read_from(file) {
                Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
                Err(error) => Err(error),
            },
            None => Config::from_kubeconfig(&options).await,
        };
        config.map_err(|source| ConnectError::Kubeconfig {
            file: self.kubeconfig.clone(),
            source: Box::new(source),
        })
    }

    fn impersonation(&self) -> Result<Vec<(HeaderName, HeaderValue)>, ConnectError> {
        let header = |key: &'static str, name: &String| {
            let value = HeaderValue::from_str(name);
            let value = value.map_err(|_| ConnectError::Impersonation { name: name.clone() })?;
            Ok((HeaderName::from_static(key), value))
        };
        let user = self.user.iter().map(|user| header("impersonate-user", user));
        user.chain(self.groups.iter().map(|group| header("impersonate-group", group))).collect()
    }
}
