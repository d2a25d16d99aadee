//! The control plane's programs, built when they are missing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::BedError;

/// Chooses the control plane of a test run.
const VERSION_VARIABLE: &str = "E2E_KUBERNETES";
/// A cold build takes 10 minutes on 2 busy cores; another caller's build may have to end first.
const BUILD_DEADLINE: Duration = Duration::from_mins(40);

/// A minor version of Kubernetes that the bed can build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kubernetes {
    /// The oldest that the operator supports.
    V1_34,
    /// The one that tests use when nothing else is asked for.
    #[default]
    V1_36,
}

impl Kubernetes {
    /// The version that `E2E_KUBERNETES` names; 1.36 if it is not set or empty.
    ///
    /// # Errors
    /// [`BedError::UnknownKubernetes`] if it names another one.
    pub fn from_environment() -> Result<Self, BedError> {
        match env::var(VERSION_VARIABLE).as_deref() {
            Err(env::VarError::NotPresent) | Ok("") => Ok(Self::default()),
            Ok(value) => Self::parse(value),
            Err(error) => Err(BedError::UnknownKubernetes { value: error.to_string() }),
        }
    }

    /// The version as a word, such as `1.36`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_34 => "1.34",
            Self::V1_36 => "1.36",
        }
    }

    fn parse(value: &str) -> Result<Self, BedError> {
        [Self::V1_34, Self::V1_36]
            .into_iter()
            .find(|version| version.as_str() == value)
            .ok_or_else(|| BedError::UnknownKubernetes { value: value.to_owned() })
    }
}

/// Builds what is missing, and says so on standard error; gives the folder with `control-plane` and `kwok`.
pub(crate) async fn build(version: Kubernetes) -> Result<PathBuf, BedError> {
    run("build.sh", version.as_str()).await
}

/// Builds the controllers of Flux that can be had; gives the folder that has them.
pub(crate) async fn flux_controllers() -> Result<PathBuf, BedError> {
    run("tools/build.sh", "flux-controllers").await
}

/// Builds the programs of a node; gives the folder with `kubelet`, `kube-proxy`, `coredns` and `pause`.
pub(crate) async fn node() -> Result<PathBuf, BedError> {
    run("tools/build.sh", "node").await
}

/// Builds Helm; gives its path.
pub(crate) async fn helm() -> Result<PathBuf, BedError> {
    run("tools/build.sh", "helm").await
}

/// Builds crane, which pushes images to registries and is one; gives its path.
///
/// # Errors
/// [`BedError`] if it cannot be built.
pub async fn crane() -> Result<PathBuf, BedError> {
    run("tools/build.sh", "crane").await
}

/// Waits for a future where there is no runtime, or one that must not be blocked in its own thread.
///
/// # Panics
/// When there can be no thread, or the future panics.
pub fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> T {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    };
    std::thread::scope(|scope| scope.spawn(work).join().expect("the future ends"))
}

/// Runs a script of this folder, whose last line on standard output is a path.
async fn run(script: &str, argument: &str) -> Result<PathBuf, BedError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let run = tokio::process::Command::new(&script)
        .arg(argument)
        .env_remove("KUBECONFIG")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(BUILD_DEADLINE, run)
        .await
        .map_err(|_| BedError::TooLong { step: script.display().to_string(), within: BUILD_DEADLINE })?
        .map_err(|source| BedError::Run { program: script.clone(), source })?;
    let path = String::from_utf8_lossy(&output.stdout).lines().last().map(PathBuf::from);
    match path {
        Some(path) if output.status.success() => Ok(path),
        _ => Err(BedError::Build { script, exit: output.status }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_refused_by_name() {
        assert_eq!(Kubernetes::parse("1.34").unwrap(), Kubernetes::V1_34);
        let error = Kubernetes::parse("1.30").unwrap_err();
        assert_eq!(error.to_string(), r#"E2E_KUBERNETES is "1.30": use 1.36 or 1.34"#);
    }
}
