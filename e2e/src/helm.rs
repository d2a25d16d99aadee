//! A real Helm, built when it is missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::{BedError, ControlPlane, programs};

/// Helm without the settings of whoever runs the tests, and without a cluster until one is named.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    home: TempDir,
}

/// A command of Helm that failed.
#[derive(Debug, thiserror::Error)]
pub enum HelmError {
    /// It could not be run.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// It refused, or what it waited for did not come.
    #[error("helm {arguments} failed: {message}")]
    Failed {
        /// Its arguments.
        arguments: String,
        /// What it said.
        message: String,
    },
}

impl Helm {
    /// Builds Helm when it is missing, and says so on standard error.
    ///
    /// # Errors
    /// [`BedError`] if it cannot be built.
    pub async fn get() -> Result<Self, BedError> {
        let program = programs::helm().await?;
        let home = tempfile::Builder::new().prefix("flux-operator-helm-").tempdir();
        let home = home.map_err(|source| BedError::State { path: std::env::temp_dir(), source })?;
        Ok(Self { program, home })
    }

    /// The program, for scripts.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command of Helm that knows no cluster.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS"] {
            command.env(name, self.home.path().join(name));
        }
        command.env("KUBECONFIG", self.home.path().join("absent"));
        command
    }

    /// Runs Helm against a cluster as its administrator, with a text as its input, and gives what it printed.
    /// It runs in a thread of its own: what it waits for may be played by this process.
    ///
    /// # Errors
    /// [`HelmError`] with what it said.
    pub async fn run(
        &self,
        plane: &ControlPlane,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, HelmError> {
        let mut command = self.command();
        command.env("KUBECONFIG", plane.kubeconfig()).args(arguments);
        let input = input.to_owned();
        let program = self.program.clone();
        let ended = tokio::task::spawn_blocking(move || run(&mut command, &input)).await;
        let output = ended.unwrap_or_else(|panic| Err(std::io::Error::other(panic)));
        let output = output.map_err(|source| BedError::Run { program, source })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(HelmError::Failed { arguments: arguments.join(" "), message })
    }
}

/// Runs a program with a text as its input.
fn run(command: &mut Command, input: &str) -> std::io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read its input closes it, which is no failure.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}
