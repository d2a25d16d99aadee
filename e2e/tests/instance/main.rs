//! The life of a `FluxInstance` against a real API server. Each test has a cluster of its own.

mod install;
mod meanwhile;
mod mistakes;
mod notifications;
mod obstacles;
mod progress;
mod receiver;
mod remove;
mod sync;
mod unreadable;
mod wait;

use std::time::Duration;

/// Enough for a busy machine; a good run takes a fraction of it.
const LONG: Duration = Duration::from_mins(2);
