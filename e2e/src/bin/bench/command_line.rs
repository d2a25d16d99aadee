//! What a person waits for on a laptop.

use std::{
    error::Error,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// How often a command is run; the first run warms the caches and is not counted.
const RUNS: usize = 21;

/// How long `build instance` takes as a process.
pub(crate) fn median_of_builds(binary: &Path, instance: &Path) -> Result<Duration, Box<dyn Error>> {
    median(|| run(Command::new(binary).args(["build", "instance", "-f"]).arg(instance)))
}

fn run(command: &mut Command) -> Result<Duration, Box<dyn Error>> {
    let started = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{command:?} ended with {status}").into()) }
}

fn median(mut run: impl FnMut() -> Result<Duration, Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut times = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    let mut counted = times.split_off(1);
    counted.sort();
    Ok(counted[counted.len() / 2])
}
