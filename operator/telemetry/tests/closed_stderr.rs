//! A process whose standard error nobody reads any more.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    env,
    io::{Read as _, Write as _, stdin},
    process::{Command, Stdio},
};

use operator_telemetry::{LogEncoding, LogLevel, start_logging};
use tracing::error;

const NAME: &str = "a_process_outlives_the_reader_of_its_logs";
const CHILD: &str = "LOGS_TO_CLOSED_STDERR";

/// The test runs itself once more as the process that logs.
#[test]
fn a_process_outlives_the_reader_of_its_logs() {
    if env::var_os(CHILD).is_some() {
        return log_when_told();
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args([NAME, "--exact", "--nocapture"])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    child.stdin.take().unwrap().write_all(b"log\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("still here"), "{said}");
}

fn log_when_told() {
    start_logging(LogLevel::Info, LogEncoding::Json).unwrap();
    assert!(start_logging(LogLevel::Info, LogEncoding::Json).is_err(), "a process logs once");
    let mut told = String::new();
    stdin().read_to_string(&mut told).unwrap();
    for _ in 0..100 {
        error!("nobody reads this");
    }
    println!("still here");
}
