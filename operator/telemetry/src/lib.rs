//! Logs of the process.

use clap::ValueEnum;
use thiserror::Error;
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt as _, util::TryInitError};

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

/// Starts logging to standard error.
///
/// # Errors
/// When the process logs already.
pub fn start_logging(level: LogLevel, encoding: LogEncoding) -> Result<(), LogError> {
    let logs = fmt().with_env_filter(filter(level)).with_writer(std::io::stderr);
    match encoding {
        LogEncoding::Json => logs.json().flatten_event(true).finish().try_init()?,
        LogEncoding::Console => logs.compact().finish().try_init()?,
    }
    Ok(())
}

/// Libraries log from warnings on; below `debug` their steps would drown ours.
fn filter(level: LogLevel) -> EnvFilter {
    let directives = match level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "warn,flux_operator=debug,operator_reconcile=debug,operator_cluster=debug",
        LogLevel::Info => "warn,flux_operator=info,operator_reconcile=info,operator_cluster=info",
        LogLevel::Error => "error",
    };
    EnvFilter::new(directives)
}
