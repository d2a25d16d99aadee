//! `wait`: until an object of ours is ready.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use crds::{FluxInstance, ResourceSet, ResourceSetInputProvider};
use kube::{Api, Resource, core::NamespaceResourceScope};
use operator_cluster::{
    client::ConnectError,
    wait::{ReadinessError, until_reconciled},
};
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::cluster::ClusterFlags;

/// Wait until an object is ready, also one that does not exist yet
#[derive(Clone, Debug, Subcommand)]
pub enum WaitCommand {
    /// Wait until a FluxInstance is ready
    Instance(Named),
    /// Wait until a ResourceSet is ready
    #[command(alias = "rset")]
    Resourceset(Named),
    /// Wait until a ResourceSetInputProvider is ready
    #[command(aliases = ["rsip", "resourcesetinputprovider"])]
    Inputprovider(Named),
}

/// The object to wait for.
#[derive(Args, Clone, Debug)]
pub struct Named {
    /// Name of the object
    name: String,
}

/// Why the wait ended without success.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum WaitCommandError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("{object} {source}")]
    NotReady { object: String, source: ReadinessError },
    #[error("failed to write the output")]
    Write(#[from] io::Error),
}

impl WaitCommand {
    /// Waits, and tells on `progress`.
    ///
    /// # Errors
    /// When the cluster cannot be reached, the time is up, or nothing but a change of the object can help.
    pub async fn run(&self, flags: &ClusterFlags, progress: &mut dyn Write) -> Result<(), WaitCommandError> {
        match self {
            Self::Instance(named) => wait::<FluxInstance>(&named.name, flags, progress).await,
            Self::Resourceset(named) => wait::<ResourceSet>(&named.name, flags, progress).await,
            Self::Inputprovider(named) => {
                wait::<ResourceSetInputProvider>(&named.name, flags, progress).await
            }
        }
    }
}

async fn wait<K>(name: &str, flags: &ClusterFlags, progress: &mut dyn Write) -> Result<(), WaitCommandError>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Send
        + 'static,
{
    let connection = flags.connect().await?;
    let object = format!("{}/{}/{name}", K::kind(&()), connection.namespace);
    writeln!(progress, "◎ waiting for {object} to be ready")?;
    let api: Api<kube::core::DynamicObject> = Api::namespaced_with(
        connection.client,
        &connection.namespace,
        &kube::core::ApiResource::erase::<K>(&()),
    );
    match until_reconciled(&api, name, flags.timeout).await {
        Ok(message) => Ok(writeln!(progress, "✔ {object} is ready: {message}")?),
        Err(source) => Err(WaitCommandError::NotReady { object, source }),
    }
}
