//! Logs of the process.

mod fields;
mod lines;

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

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::{LogLevel, filter};

    #[test]
    fn a_level_is_how_much_of_the_operator_and_of_its_libraries_is_logged() {
        for (level, own, others) in [
            (LogLevel::Trace, Level::TRACE, Level::TRACE),
            (LogLevel::Debug, Level::DEBUG, Level::WARN),
            (LogLevel::Info, Level::INFO, Level::WARN),
            (LogLevel::Error, Level::ERROR, Level::ERROR),
        ] {
            let filter = filter(level);
            for shown in [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR] {
                for target in ["flux_operator::serve", "operator_reconcile::flux_instance", "manifests"] {
                    assert_eq!(
                        filter.would_enable(target, &shown),
                        shown <= own,
                        "{level:?} {target} {shown}"
                    );
                }
                for target in ["kube_client::client", "hyper", "tower::buffer"] {
                    assert_eq!(
                        filter.would_enable(target, &shown),
                        shown <= others,
                        "{level:?} {target} {shown}"
                    );
                }
            }
        }
    }
}
