//! The reconcilers: observe, decide, act. One file a kind.

mod backoff;
mod conditions;
mod drift;
mod flux_instance;
mod schedule;

pub use backoff::RetryDelays;
pub use flux_instance::{FluxInstanceReconciler, Settings};
