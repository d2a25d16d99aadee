//! The operator's binary as a child process.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::Program;
use crate::{BedError, ControlPlane, LogTail, Process};

/// Names the binary, where it is not next to the tests.
const VARIABLE: &str = "FLUX_OPERATOR_BIN";
const BINARY: &str = "flux-operator";

/// How to run the operator.
#[derive(Debug, Clone, Default)]
pub struct OperatorOptions {
    /// Arguments after `serve`.
    pub arguments: Vec<String>,
    /// Variables on top of the inherited ones, of which `KUBECONFIG` and proxies are removed.
    pub environment: BTreeMap<String, String>,
    /// Another way to the cluster, such as a proxy; the administrator's kubeconfig by default.
    pub kubeconfig: Option<PathBuf>,
    /// Another binary; [`operator_binary`] by default.
    pub binary: Option<PathBuf>,
}

/// A running operator: dropped, it is killed. If that happens in a panic, the end of its log is printed.
#[derive(Debug)]
pub struct Operator {
    process: Process,
}

impl Operator {
    /// Starts `flux-operator serve` against a control plane.
    ///
    /// # Errors
    /// [`BedError`] if there is no binary or it cannot be run.
    pub fn start(plane: &ControlPlane, options: OperatorOptions) -> Result<Self, BedError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);

        let OperatorOptions { arguments, mut environment, kubeconfig, binary } = options;
        let executable = binary.map_or_else(operator_binary, Ok)?;
        let kubeconfig = kubeconfig.as_deref().unwrap_or(plane.kubeconfig());
        environment.insert("KUBECONFIG".to_owned(), kubeconfig.to_string_lossy().into_owned());
        let process = Process::start(Program {
            name: format!("{BINARY}-{}", NUMBER.fetch_add(1, Ordering::Relaxed)),
            executable,
            arguments: with_defaults(arguments),
            environment,
            folder: plane.state().to_owned(),
        })?;
        Ok(Self { process })
    }

    /// The process, for its id, memory and log.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The last lines of its log.
    #[must_use]
    pub fn log_tail(&self) -> LogTail {
        self.process.log_tail()
    }

    /// Ends it at once (SIGKILL), as a node that loses power does.
    pub fn kill(&self) {
        self.process.kill();
    }

    /// Asks it to end (SIGTERM), as Kubernetes does.
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// [`BedError::StillRunning`] with the end of its log, if the deadline passes first.
    pub async fn wait_for_exit(&self, within: Duration) -> Result<ExitStatus, BedError> {
        let ended = self.process.wait_for_exit(within).await;
        ended.ok_or_else(|| BedError::StillRunning { within, log: self.log_tail() })
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the operator's part: {}", self.log_tail());
        }
    }
}

/// Operators run side by side: without a word about their ports they have none.
fn with_defaults(arguments: Vec<String>) -> Vec<String> {
    let mut all = vec!["serve".to_owned()];
    for (flag, none) in [("--metrics-addr", "--metrics-addr=0"), ("--health-addr", "--health-addr=0")] {
        if !arguments.iter().any(|argument| argument.starts_with(flag)) {
            all.push(none.to_owned());
        }
    }
    all.extend(arguments);
    all
}

/// The operator's binary: what `FLUX_OPERATOR_BIN` names, or the one that cargo put next to the tests.
///
/// # Errors
/// [`BedError::NoOperator`] if there is none.
pub fn operator_binary() -> Result<PathBuf, BedError> {
    let named = env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = env::current_exe().unwrap_or_default();
    find_binary(named, &own)
}

/// Tests run in `target/PROFILE/deps`, binaries in `target/PROFILE`.
fn find_binary(named: Option<PathBuf>, own: &Path) -> Result<PathBuf, BedError> {
    let candidates = match named {
        Some(path) => vec![path],
        None => own.ancestors().skip(1).take(2).map(|folder| folder.join(BINARY)).collect(),
    };
    let searched = candidates.iter().map(|path| path.display().to_string()).collect();
    candidates.into_iter().find(|path| path.is_file()).ok_or(BedError::NoOperator { searched })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_next_to_the_tests() {
        let target = tempfile::tempdir().unwrap();
        let own = target.path().join("debug/deps/bed-0123");
        let binary = target.path().join("debug/flux-operator");
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        let error = find_binary(None, &own).unwrap_err().to_string();
        assert!(error.contains("debug/deps/flux-operator, "), "{error}");
        assert!(error.contains("run `cargo build -p flux-operator`"), "{error}");

        std::fs::write(&binary, "").unwrap();
        assert_eq!(find_binary(None, &own).unwrap(), binary);
    }

    #[test]
    fn a_named_binary_that_is_missing_is_not_replaced_by_another() {
        let target = tempfile::tempdir().unwrap();
        std::fs::write(target.path().join("flux-operator"), "").unwrap();
        let error =
            find_binary(Some("/nowhere/flux-operator".into()), &target.path().join("bed")).unwrap_err();
        assert!(error.to_string().starts_with("no flux-operator in /nowhere/flux-operator: "), "{error}");
    }
}
