//! What a node is made from, built before it starts: a node has no way out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::Cage;
use super::error::NodeError;
use crate::{BedError, Kubernetes, operator_binary, programs};

/// A cold build takes 10 minutes on 2 busy cores; another caller's build may have to end first.
const BUILD_DEADLINE: Duration = Duration::from_mins(40);

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
        let programs = built("tools/build.sh", "node").await?;
        let controllers = built("tools/build.sh", "flux-controllers").await?;
        let images = cage.state().join("images");
        let mut command = Command::new(script("node/images.sh"));
        command.arg(operator_binary()?).arg(&images).env("NODE", &programs).env("CONTROLLERS", controllers);
        output(command).await?;
        Ok(Self {
            state: cage.state().to_owned(),
            control_plane,
            programs,
            plugins: cage.plugins().to_owned(),
            images,
        })
    }
}

/// Runs a script of this folder that builds something; gives the path that it prints last.
async fn built(name: &str, argument: &str) -> Result<PathBuf, NodeError> {
    let mut command = Command::new(script(name));
    command.arg(OsStr::new(argument));
    let printed = output(command).await?;
    Ok(printed.lines().last().unwrap_or_default().into())
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a command that shows its progress on standard error; gives what it prints.
async fn output(mut command: Command) -> Result<String, NodeError> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit()).kill_on_drop(true);
    let program = PathBuf::from(command.as_std().get_program());
    let output = tokio::time::timeout(BUILD_DEADLINE, command.output())
        .await
        .map_err(|_| BedError::TooLong { step: program.display().to_string(), within: BUILD_DEADLINE })?
        .map_err(|source| BedError::Run { program: program.clone(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(BedError::Build { script: program, exit: output.status }.into())
}
