//! The operator behind a proxy that breaks things: crashes at any write, an API server that refuses, delays and
//! cuts, and people who change what is installed. Whatever happens, the cluster ends as it does without faults.
//!
//! All tests share one control plane and take turns on it. Variables for longer runs:
//! - `E2E_CAMPAIGN=full` crashes at every effective write in every phase; a number takes a sample of that size.
//! - `E2E_CAMPAIGN_LOG=file` appends each crash that was survived, and skips those that the file has.
//! - `E2E_SEED` is where random choices begin.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod bench;
mod crash;
mod drift;
mod life;
mod passing;
mod proxy;
mod quiet;
mod refusals;
mod seed;
mod snapshot;
mod unreadable;
mod words;

use std::time::Duration;

/// Enough for a busy machine; a good run takes a fraction of it.
const LONG: Duration = Duration::from_mins(2);
