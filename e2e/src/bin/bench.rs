//! Measures the release binary, which must be next to this program: `make bench`.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

/// How often a command is run; the first run warms the caches and is not counted.
const RUNS: usize = 21;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let binary = binary()?;
    println!("{:<56} {:>12} {:>12}", "measure", "value", "bar");
    let tenths = fs::metadata(&binary)?.len() / 100_000;
    row("binary, stripped", &format!("{}.{} MB", tenths / 10, tenths % 10), "22 MB");
    let instance = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/flux.yaml");
    let arguments = ["build", "instance", "-f"];
    let rendered = median(|| run(Command::new(&binary).args(arguments).arg(&instance)))?;
    row("build instance, 3 shards, 20 patches, median of 20", &milliseconds(rendered), "25 ms");
    Ok(())
}

fn row(measure: &str, value: &str, bar: &str) {
    println!("{measure:<56} {value:>12} {bar:>12}");
}

/// The binary that was built in the same profile as this program.
fn binary() -> Result<PathBuf, Box<dyn Error>> {
    let own = env::current_exe()?;
    let binary = own.with_file_name("flux-operator");
    if binary.is_file() {
        return Ok(binary);
    }
    Err(format!("{} is missing: run `make bench`, which builds it", binary.display()).into())
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

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}
