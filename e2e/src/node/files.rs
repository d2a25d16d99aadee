//! What a node is made from, built before it starts: a node has no way out.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::Cage;
use super::error::{NodeError, run};
use crate::{Kubernetes, operator_binary, programs};

/// Half a gigabyte of programs is read and written.
const PACK_DEADLINE: Duration = Duration::from_mins(5);

/// Where everything is that a node is made from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeFiles {
    /// The folder for everything that the node writes.
    pub state: PathBuf,
    /// The folder of `control-plane`.
    pub control_plane: PathBuf,
    /// The folder of `kubelet`, `kube-proxy` and `coredns`.
    pub programs: PathBuf,
    /// The folder of the plugins that make the networks of pods.
    pub plugins: PathBuf,
    /// A folder of archives: every image in them is there before the first pod is.
    pub images: PathBuf,
}

impl NodeFiles {
    /// Builds what is missing, and says so on standard error: the programs, and images of the operator, of the
    /// controllers of Flux that can be built, and of an app, which is `localhost/hello:1`. The image of the operator
    /// is `localhost/flux-operator`.
    ///
    /// # Errors
    /// [`NodeError`] names the script that failed.
    pub async fn prepare(cage: &Cage) -> Result<Self, NodeError> {
        let control_plane = programs::build(Kubernetes::V1_36).await?;
        let programs = programs::node().await?;
        let controllers = programs::flux_controllers().await?;
        let images = cage.state().join("images");
        let mut pack = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/node/images.sh"));
        pack.arg(operator_binary()?).arg(&images).env("NODE", &programs).env("CONTROLLERS", controllers);
        run(pack, PACK_DEADLINE).await?;
        Ok(Self {
            state: cage.state().to_owned(),
            control_plane,
            programs,
            plugins: cage.plugins().to_owned(),
            images,
        })
    }
}
