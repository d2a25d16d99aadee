//! Commands that are run to their end, without the settings of whoever runs the tests.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// What a command may know of its surroundings: where programs and scratch files are, and nothing of a cluster,
/// a repository or a proxy.
const INHERITED: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// A command that knows nothing but where programs are. Dropped while it runs, it is killed.
#[must_use]
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().kill_on_drop(true);
    for name in INHERITED {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Runs a command with an input, and gives all that it said.
///
/// # Errors
/// If it cannot be run, or has not ended in time: it is killed then.
pub async fn run(command: &mut Command, input: &[u8], within: Duration) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read its input closes it, which is no failure.
            let _ = stdin.write_all(input).await;
        }
    };
    let work = async { tokio::join!(write, child.wait_with_output()).1 };
    tokio::time::timeout(within, work).await.unwrap_or_else(|_| {
        let message = format!("it took longer than {} s", within.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_knows_no_cluster_and_reads_its_input() {
        let output =
            run(isolated("sh").args(["-c", "env; cat"]), b"text", Duration::from_mins(1)).await.unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.ends_with("text"), "{said}");
        let names: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        assert!(names.contains(&"PATH"), "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
    }

    #[tokio::test]
    async fn a_command_that_does_not_end_is_killed() {
        let error = run(isolated("sleep").arg("60"), &[], Duration::from_millis(50)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
