//! The charts, and Helm, as a user runs it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use e2e::Helm;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::{Outcome, file};

/// The repository that the operator's image has on the node.
const REPOSITORY: &str = "localhost/flux-operator";
/// What Helm is given for one command; it tells more than our own deadline would.
const TIMEOUT: &str = "--timeout=4m";
const DEADLINE: Duration = Duration::from_mins(5);

/// The packages of both charts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charts {
    /// The package of `flux-operator`.
    pub(crate) operator: PathBuf,
    /// The package of `flux-instance`.
    pub(crate) instance: PathBuf,
}

impl Charts {
    /// Packages the charts into a folder.
    pub(crate) async fn package(folder: &Path) -> Outcome<Self> {
        let helm = Helm::get().await?;
        let mut package = Command::new(file("../charts/package.sh"));
        package.arg(REPOSITORY).arg(folder).env("HELM", helm.program());
        let printed = run(package, "charts/package.sh").await?;
        let [operator, instance] = printed.lines().collect::<Vec<_>>()[..] else {
            return Err(format!("charts/package.sh did not print two packages but: {printed}").into());
        };
        Ok(Self { operator: operator.into(), instance: instance.into() })
    }
}

/// `helm install NAME PACKAGE`, with further arguments; waits until everything is ready.
pub(crate) async fn install(helm: &Helm, kubeconfig: &Path, arguments: &[&str]) -> Outcome {
    let fixed = ["--create-namespace", "--wait"];
    release(helm, kubeconfig, &[&["install"], arguments, &fixed].concat()).await
}

/// `helm uninstall NAME`; waits until everything is gone.
pub(crate) async fn uninstall(helm: &Helm, kubeconfig: &Path, name: &str) -> Outcome {
    release(helm, kubeconfig, &["uninstall", name, "--wait"]).await
}

async fn release(helm: &Helm, kubeconfig: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::from(helm.command());
    command.args(arguments).args(["--namespace", crds::DEFAULT_NAMESPACE, TIMEOUT]);
    command.env("KUBECONFIG", kubeconfig);
    run(command, &format!("helm {}", arguments.join(" "))).await.map(drop)
}

async fn run(mut command: Command, name: &str) -> Outcome<String> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(DEADLINE, command.output())
        .await
        .map_err(|_| format!("{name} took longer than {} s", DEADLINE.as_secs()))?
        .map_err(|error| format!("failed to run {name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} ended with {}: {}", output.status, message.trim()).into())
}
