//! Flags that say which cluster a command speaks to.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use crds::duration;
use operator_cluster::client::{ConnectError, ConnectOptions, Connection};

/// Which cluster, as whom, and for how long.
#[derive(Args, Clone, Debug)]
pub struct ClusterFlags {
    /// How long the command may take
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration, global = true)]
    pub(crate) timeout: Duration,

    /// Namespace of the objects; by default that of the kubeconfig's context
    #[arg(short, long, value_name = "NAMESPACE", global = true)]
    pub(crate) namespace: Option<String>,

    /// Path of the kubeconfig; by default KUBECONFIG, then ~/.kube/config, then the pod's own account
    #[arg(long, value_name = "FILE", global = true)]
    kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME", global = true)]
    kube_context: Option<String>,

    /// User to act as
    #[arg(long, value_name = "USER", global = true)]
    kube_as: Option<String>,

    /// Group to act as; can be repeated
    #[arg(long, value_name = "GROUP", global = true)]
    kube_as_group: Vec<String>,
}

impl ClusterFlags {
    /// How to connect.
    #[must_use]
    pub fn connect_options(&self) -> ConnectOptions {
        ConnectOptions {
            kubeconfig: self.kubeconfig.clone(),
            context: self.kube_context.clone(),
            user: self.kube_as.clone(),
            groups: self.kube_as_group.clone(),
        }
    }

    /// Connects, and finds the namespace.
    pub(crate) async fn connect(&self) -> Result<Connection, ConnectError> {
        let connection = self.connect_options().connect().await?;
        Ok(match &self.namespace {
            Some(namespace) => Connection { namespace: namespace.clone(), ..connection },
            None => connection,
        })
    }
}
