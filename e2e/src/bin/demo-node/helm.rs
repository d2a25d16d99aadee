//! The charts, and Helm, as a user runs it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use e2e::{
    Helm,
    command::{self, isolated},
};
use serde::{Deserialize, Serialize};

use crate::{Outcome, file};

/// The repository that the operator's image has on the node.
const REPOSITORY: &str = "localhost/flux-operator";
/// What Helm is given for one command.
const TIMEOUT: &str = "--timeout=4m";
/// Packaging reads and writes a few files.
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
        let mut package = isolated(file("../charts/package.sh"));
        package.arg(REPOSITORY).arg(folder).env("HELM", helm.program()).envs(helm.folders());
        let output = command::run(&mut package, &[], DEADLINE).await?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("charts/package.sh ended with {}: {}", output.status, message.trim()).into());
        }
        let printed = String::from_utf8_lossy(&output.stdout);
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
    let all = [arguments, &["--namespace", crds::DEFAULT_NAMESPACE, TIMEOUT]].concat();
    helm.run(kubeconfig, &all, "").await?;
    Ok(())
}
