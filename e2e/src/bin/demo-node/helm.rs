//! The charts, and Helm, as a user runs it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::{Outcome, file};

/// The repository that the operator's image has on the node.
const REPOSITORY: &str = "localhost/flux-operator";
/// The namespace of both releases.
const NAMESPACE: &str = "flux-system";
/// What Helm is given for one command; it tells more than our own deadline would.
const TIMEOUT: &str = "--timeout=4m";
const DEADLINE: Duration = Duration::from_mins(5);

/// Helm and the packages of both charts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Charts {
    helm: PathBuf,
    /// The package of `flux-operator`.
    pub(crate) operator: PathBuf,
    /// The package of `flux-instance`.
    pub(crate) instance: PathBuf,
}

impl Charts {
    /// Builds Helm if it is missing, and packages the charts into a folder.
    pub(crate) async fn package(folder: &Path) -> Outcome<Self> {
        let mut build = Command::new(file("tools/build.sh"));
        build.arg("helm").stderr(Stdio::inherit());
        let helm = PathBuf::from(output(build).await?.trim_end());
        let mut package = Command::new(file("../charts/package.sh"));
        package.arg(REPOSITORY).arg(folder).env("HELM", &helm).stderr(Stdio::inherit());
        let printed = output(package).await?;
        let [operator, instance] = printed.lines().collect::<Vec<_>>()[..] else {
            return Err(format!("charts/package.sh did not print two packages but: {printed}").into());
        };
        Ok(Self { helm, operator: operator.into(), instance: instance.into() })
    }

    /// `helm install NAME PACKAGE`, with further arguments; waits until everything is ready.
    pub(crate) async fn install(&self, kubeconfig: &Path, name: &str, rest: &[&str]) -> Outcome {
        let mut arguments = vec!["install", name];
        arguments.extend(rest);
        arguments.extend(["--create-namespace", "--wait"]);
        self.run(kubeconfig, &arguments).await
    }

    /// `helm uninstall NAME`; waits until everything is gone.
    pub(crate) async fn uninstall(&self, kubeconfig: &Path, name: &str) -> Outcome {
        self.run(kubeconfig, &["uninstall", name, "--wait"]).await
    }

    async fn run(&self, kubeconfig: &Path, arguments: &[&str]) -> Outcome {
        let mut command = Command::new(&self.helm);
        command.args(arguments).args(["--namespace", NAMESPACE, TIMEOUT]).env("KUBECONFIG", kubeconfig);
        // Its caches and settings are ours, not those of whoever runs this.
        let folder = kubeconfig.with_file_name("helm");
        for variable in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
            command.env(variable, &folder);
        }
        output(command).await.map(drop)
    }
}

async fn output(mut command: Command) -> Outcome<String> {
    let name = format!("{:?}", command.as_std());
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
