//! What can go wrong with a node, and commands that say what did.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::time::Duration;

use tokio::process::Command;

use crate::BedError;
use crate::error::write_with_causes;

/// A step of a node's life that failed.
#[derive(thiserror::Error)]
pub enum NodeError {
    /// A program of the control plane or of the node did not get ready.
    #[error(transparent)]
    Bed(#[from] BedError),
    /// A command could not be run, or took too long.
    #[error("failed to run {command}")]
    Run {
        /// The command.
        command: String,
        /// The cause.
        source: io::Error,
    },
    /// A command failed.
    #[error("{command} ended with {exit}: {message}")]
    Refused {
        /// The command.
        command: String,
        /// How it ended.
        exit: ExitStatus,
        /// What it said.
        message: String,
    },
    /// A file or folder of the system is not as it has to be.
    #[error("failed to use {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The API server did not answer.
    #[error("failed to {step}")]
    Request {
        /// What was asked for.
        step: String,
        /// The cause.
        source: Box<kube::Error>,
    },
    /// This machine cannot have a node.
    #[error("a node cannot run here: {}", missing.join("; "))]
    Impossible {
        /// What is missing, and what to do.
        missing: Vec<String>,
    },
}

impl fmt::Debug for NodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_causes(self, formatter)
    }
}

/// Runs a command that has to succeed.
pub(super) async fn run(mut command: Command, within: Duration) -> Result<Output, NodeError> {
    let words = || {
        let command = command.as_std();
        let words = [command.get_program()].into_iter().chain(command.get_args());
        words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    };
    let name = words();
    let output = crate::command::run(command.kill_on_drop(true), &[], within)
        .await
        .map_err(|source| NodeError::Run { command: name.clone(), source })?;
    if output.status.success() {
        return Ok(output);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(NodeError::Refused { command: name, exit: output.status, message })
}

/// The files of a folder, sorted.
pub(super) fn listed(folder: &Path) -> Result<Vec<PathBuf>, NodeError> {
    let failed = |source| NodeError::File { path: folder.to_owned(), source };
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<_> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}
