//! A real Helm, built when it is missing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use crate::command::{self, isolated};
use crate::{BedError, programs};

/// Longer than any `--timeout` that it is given.
const DEADLINE: Duration = Duration::from_mins(15);

/// Helm without the settings of whoever runs the tests.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
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
        Ok(Self { program: programs::helm().await? })
    }

    /// The program, for scripts.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command of Helm that knows no cluster.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = isolated(&self.program);
        command.envs(self.folders()).env("KUBECONFIG", "/absent");
        command
    }

    /// Runs Helm against a cluster as its administrator, with a text as its input, and gives what it printed.
    ///
    /// # Errors
    /// [`HelmError`] with what it said.
    pub async fn run(&self, kubeconfig: &Path, arguments: &[&str], input: &str) -> Result<String, HelmError> {
        let mut command = self.command();
        command.args(arguments).env("KUBECONFIG", kubeconfig);
        let output = command::run(&mut command, input.as_bytes(), DEADLINE).await;
        let output = output.map_err(|source| BedError::Run { program: self.program.clone(), source })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(HelmError::Failed { arguments: arguments.join(" "), message })
    }

    /// The variables that keep it from the settings of whoever runs the tests. The folders are beside the program,
    /// and nothing that is kept in them matters.
    #[must_use]
    pub fn folders(&self) -> [(&'static str, PathBuf); 4] {
        ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS"]
            .map(|name| (name, self.program.with_file_name(name)))
    }
}
