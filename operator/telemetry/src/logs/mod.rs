//! Logs of the process.

mod fields;
mod lines;
#[cfg(test)]
mod tests;

use std::io::{Write as _, stderr};

use clap::ValueEnum;
use thiserror::Error;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    filter::Targets,
    layer::SubscriberExt as _,
    registry,
    util::{SubscriberInitExt as _, TryInitError},
};

use lines::Lines;

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Every request.
    Trace,
    /// Every step.
    Debug,
    /// What changed.
    #[default]
    Info,
    /// What a person must act on.
    Error,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogEncoding {
    /// One JSON object a line.
    #[default]
    Json,
    /// Text for a terminal.
    Console,
}

/// Logging was set up before.
#[derive(Debug, Error)]
#[error("failed to set up logging")]
pub struct LogError(#[from] TryInitError);

/// Starts logging to standard error, one line an event, at most 16 KiB long.
///
/// The keys are those of other controllers of Flux: `level` (`trace`, `debug`, `info`, `warn` or `error`),
/// `ts` (UTC), `logger` (the module), `msg`; then the fields of the spans around the event, and its own,
/// under their names. User names and passwords in URLs are left out. A line that cannot be written is lost
/// without a word: there is no place to say so.
///
/// # Errors
/// When the process logs already.
pub fn start_logging(level: LogLevel, encoding: LogEncoding) -> Result<(), LogError> {
    let lines = Lines::new(encoding, |line| {
        let _ = stderr().lock().write_all(line);
    });
    Ok(registry().with(filter(level)).with(lines).try_init()?)
}

/// How the modules of this operator are called, and those of no library that it uses.
const OWN_TARGETS: [&str; 3] = ["flux_operator", "manifests", "operator_"];

/// Libraries log from warnings on; below `trace` their steps would drown ours.
fn filter(level: LogLevel) -> Targets {
    let (own, others) = match level {
        LogLevel::Trace => (LevelFilter::TRACE, LevelFilter::TRACE),
        LogLevel::Debug => (LevelFilter::DEBUG, LevelFilter::WARN),
        LogLevel::Info => (LevelFilter::INFO, LevelFilter::WARN),
        LogLevel::Error => (LevelFilter::ERROR, LevelFilter::ERROR),
    };
    Targets::new().with_default(others).with_targets(OWN_TARGETS.map(|target| (target, own)))
}
