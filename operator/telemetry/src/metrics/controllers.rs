//! What controllers do, under the names that controller-runtime gives it.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

use super::{Labels, label};

/// Seconds; those of controller-runtime, so that one query covers all controllers.
const RECONCILE_TIME_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

/// How a reconciliation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is left to do until the object changes.
    Success,
    /// The object is due again at once.
    Requeue,
    /// The object is due again after a time.
    RequeueAfter,
    /// It failed, and is tried again.
    Error,
    /// It failed, and only a change of the object helps.
    TerminalError,
}

impl Outcome {
    const RESULTS: [&str; 4] = ["success", "error", "requeue", "requeue_after"];

    fn result(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Requeue => "requeue",
            Self::RequeueAfter => "requeue_after",
            Self::Error | Self::TerminalError => "error",
        }
    }
}

/// A worker that is busy as long as this lives, however its work ends.
#[derive(Debug)]
#[must_use = "the worker is busy until this is dropped"]
pub struct ActiveWorker {
    workers: Gauge,
}

impl Drop for ActiveWorker {
    fn drop(&mut self) {
        self.workers.dec();
    }
}

#[derive(Debug)]
pub(super) struct Controllers {
    reconciles: Family<Labels, Counter>,
    errors: Family<Labels, Counter>,
    terminal_errors: Family<Labels, Counter>,
    time: Family<Labels, Histogram, fn() -> Histogram>,
    active_workers: Family<Labels, Gauge>,
    max_concurrent: Family<Labels, Gauge>,
}

impl Controllers {
    /// The families, and their place in the registry, which puts `_total` behind the names of counters.
    pub(super) fn register(registry: &mut Registry) -> Self {
        let families = Self {
            reconciles: Family::default(),
            errors: Family::default(),
            terminal_errors: Family::default(),
            time: Family::new_with_constructor(|| Histogram::new(RECONCILE_TIME_BUCKETS)),
            active_workers: Family::default(),
            max_concurrent: Family::default(),
        };
        registry.register(
            "controller_runtime_reconcile",
            "Total number of reconciliations per controller",
            families.reconciles.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_errors",
            "Total number of reconciliation errors per controller",
            families.errors.clone(),
        );
        registry.register(
            "controller_runtime_terminal_reconcile_errors",
            "Total number of terminal reconciliation errors per controller",
            families.terminal_errors.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            families.time.clone(),
        );
        registry.register(
            "controller_runtime_active_workers",
            "Number of currently used workers per controller",
            families.active_workers.clone(),
        );
        registry.register(
            "controller_runtime_max_concurrent_reconciles",
            "Maximum number of concurrent reconciles per controller",
            families.max_concurrent.clone(),
        );
        families
    }

    /// A rate needs a counter that was zero before.
    pub(super) fn add(&self, controller: &str, max_concurrent: u32) {
        let labels = of_controller(controller);
        for result in Outcome::RESULTS {
            self.reconciles.get_or_create_owned(&with_result(controller, result));
        }
        self.errors.get_or_create_owned(&labels);
        self.terminal_errors.get_or_create_owned(&labels);
        self.time.get_or_create_owned(&labels);
        self.active_workers.get_or_create_owned(&labels);
        self.max_concurrent.get_or_create_owned(&labels).set(i64::from(max_concurrent));
    }

    pub(super) fn observe(&self, controller: &str, outcome: Outcome, duration: Duration) {
        let labels = of_controller(controller);
        self.time.get_or_create_owned(&labels).observe(duration.as_secs_f64());
        self.reconciles.get_or_create_owned(&with_result(controller, outcome.result())).inc();
        if matches!(outcome, Outcome::Error | Outcome::TerminalError) {
            self.errors.get_or_create_owned(&labels).inc();
        }
        if outcome == Outcome::TerminalError {
            self.terminal_errors.get_or_create_owned(&labels).inc();
        }
    }

    pub(super) fn start_work(&self, controller: &str) -> ActiveWorker {
        let workers = self.active_workers.get_or_create_owned(&of_controller(controller));
        workers.inc();
        ActiveWorker { workers }
    }
}

fn of_controller(controller: &str) -> Labels {
    vec![("controller", label(controller))]
}

fn with_result(controller: &str, result: &str) -> Labels {
    vec![("controller", label(controller)), ("result", result.to_owned())]
}
