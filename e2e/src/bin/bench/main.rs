//! Measures the operator's release binary: `make bench`.

mod command_line;
mod operator;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

#[tokio::main]
async fn main() -> ExitCode {
    match measure().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let binary = binary()?;
    println!("{:<56} {:>12} {:>12}", "measure", "value", "bar");
    row("binary, stripped", &megabytes(fs::metadata(&binary)?.len()), "25 MB");
    let instance = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/flux.yaml");
    let rendered = command_line::median_of_builds(&binary, &instance)?;
    row("build instance, 3 shards, 20 patches, median of 20", &milliseconds(rendered), "25 ms");
    operator::measure(&binary).await
}

fn row(measure: &str, value: &str, bar: &str) {
    println!("{measure:<56} {value:>12} {bar:>12}");
}

/// The binary that the one argument names.
fn binary() -> Result<PathBuf, Box<dyn Error>> {
    let binary =
        env::args_os().nth(1).ok_or("usage: bench BINARY; `make bench` builds the binary and names it")?;
    fs::canonicalize(&binary).map_err(|error| format!("{}: {error}", binary.display()).into())
}

fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}
