//! What can go wrong with the bed, in words that say which part, which file and what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

/// Lines of a log that a failure shows: enough for a Go stack trace's head, short enough for a terminal.
const TAIL_LINES: usize = 25;
/// Longest line of a log that a failure shows, in characters: one request of the API server can be 10 KB.
const TAIL_LINE_LENGTH: usize = 400;

/// A step of starting, using or ending the bed that failed.
///
/// `Debug` prints the same sentences as `Display`, with the causes: it is what `unwrap` shows.
#[derive(thiserror::Error)]
pub enum BedError {
    /// `E2E_KUBERNETES` names a minor version that the bed cannot build.
    #[error("E2E_KUBERNETES is {value:?}: use 1.36 or 1.34")]
    UnknownKubernetes {
        /// What the variable holds.
        value: String,
    },
    /// The build script did not give a folder with the programs.
    #[error("failed to build programs of the bed ({script} ended with {exit}): its messages are above")]
    Build {
        /// The script that was run.
        script: PathBuf,
        /// How it ended.
        exit: ExitStatus,
    },
    /// A step took longer than it may.
    #[error("{step} took longer than {} s", within.as_secs())]
    TooLong {
        /// What was waited for.
        step: String,
        /// The deadline.
        within: Duration,
    },
    /// A program could not be started.
    #[error("failed to run {program}")]
    Run {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A program that makes keys ended with an error.
    #[error("failed to make {file}: openssl ended with {exit}: {message}")]
    Keys {
        /// The file that was to be written.
        file: PathBuf,
        /// How openssl ended.
        exit: ExitStatus,
        /// What it said.
        message: String,
    },
    /// A file or folder of the bed's state could not be made or read.
    #[error("failed to prepare {path}")]
    State {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder for the state holds something already.
    #[error("{path} is not empty: the state of a control plane needs a folder of its own")]
    StateInUse {
        /// The folder.
        path: PathBuf,
    },
    /// What kwok shall play cannot be read.
    #[error("failed to read e2e/control-plane/stages.yaml: {message}")]
    Stages {
        /// The cause.
        message: String,
    },
    /// The kernel gave no port on loopback.
    #[error("failed to reserve a port on loopback")]
    Port(#[source] io::Error),
    /// A part of the control plane ended while it was needed.
    #[error("{part} of control plane {plane:?} ended with {exit} while {waiting_for} was waited for; {log}")]
    Ended {
        /// The control plane's name.
        plane: String,
        /// The part.
        part: String,
        /// How it ended.
        exit: ExitStatus,
        /// What the start was waiting for.
        waiting_for: String,
        /// Its log.
        log: LogTail,
    },
    /// A part of the control plane runs, but did not do its work in time.
    #[error(
        "{part} of control plane {plane:?} did not get ready: no {waiting_for} within {} s ({last}); {log}",
        within.as_secs_f32()
    )]
    NotReady {
        /// The control plane's name.
        plane: String,
        /// The part.
        part: String,
        /// The condition.
        waiting_for: String,
        /// The deadline.
        within: Duration,
        /// The last answer or error.
        last: String,
        /// Its log.
        log: LogTail,
    },
    /// A kubeconfig could not be read.
    #[error("failed to read the kubeconfig {path}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<kube::config::KubeconfigError>,
    },
    /// A client could not be made, or a request of the bed's own failed.
    #[error("failed to {step}")]
    Request {
        /// What was asked for.
        step: String,
        /// The cause.
        source: Box<kube::Error>,
    },
    /// The cluster that `E2E_KUBECONFIG` names is in use by Flux.
    #[error(
        "the cluster of {kubeconfig} holds {}: tests install, break and delete Flux, so they refuse a cluster \
         that has it; remove these definitions or name another cluster", definitions.join(", ")
    )]
    Occupied {
        /// The kubeconfig.
        kubeconfig: PathBuf,
        /// The definitions that were found, sorted.
        definitions: Vec<String>,
    },
    /// Another test holds the cluster that `E2E_KUBECONFIG` names.
    #[error("the cluster of {kubeconfig} was in use by another test for {} s", within.as_secs())]
    Busy {
        /// The kubeconfig.
        kubeconfig: PathBuf,
        /// How long this one waited.
        within: Duration,
    },
    /// The operator's binary is in none of the places where it may be.
    #[error(
        "no flux-operator in {}: run `cargo build -p flux-operator`, or set FLUX_OPERATOR_BIN", searched.join(", ")
    )]
    NoOperator {
        /// Where it was looked for.
        searched: Vec<String>,
    },
    /// The operator did not end in time.
    #[error("the operator did not end within {} s; {log}", within.as_secs_f32())]
    StillRunning {
        /// The deadline.
        within: Duration,
        /// Its log.
        log: LogTail,
    },
}

impl fmt::Debug for BedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_causes(self, formatter)
    }
}

/// Writes an error and its causes as one sentence.
pub(crate) fn write_with_causes(error: &dyn Error, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(formatter, "{error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(formatter, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

/// An error and its causes as text: kube's errors name the real reason only in the last cause.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    struct Causes<'a>(&'a dyn Error);
    impl fmt::Display for Causes<'_> {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_with_causes(self.0, formatter)
        }
    }
    Causes(error).to_string()
}

/// The end of a log file, as it was when it was taken.
#[derive(Debug, Clone)]
pub struct LogTail {
    /// The file.
    pub path: PathBuf,
    /// Its last lines, oldest first.
    pub lines: Vec<String>,
}

impl LogTail {
    /// Reads the last lines of a log; a log that cannot be read has none.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let shorten = |line: &str| line.chars().take(TAIL_LINE_LENGTH).collect();
        let mut lines: Vec<String> = text.lines().rev().take(TAIL_LINES).map(shorten).collect();
        lines.reverse();
        Self { path: path.to_owned(), lines }
    }
}

impl fmt::Display for LogTail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return write!(formatter, "its log {} is empty", self.path.display());
        }
        write!(formatter, "its log {} ends with:", self.path.display())?;
        for line in &self.lines {
            write!(formatter, "\n  {line}")?;
        }
        Ok(())
    }
}
