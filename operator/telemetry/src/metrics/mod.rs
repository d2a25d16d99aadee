//! Metrics of the process, in the names that dashboards of controllers know.

mod controllers;
mod instance;
mod process;
mod series;

use std::{fmt, sync::Arc, time::Duration};

use prometheus_client::{
    encoding::prometheus_text::encode,
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::text::{CutText, without_userinfo};

pub use controllers::{ActiveWorker, Outcome};
pub use instance::{InstanceInfo, Ready};

use controllers::Controllers;
use process::Process;
use series::InfoSeries;

/// The most bytes of a label: longer ones make Prometheus refuse the whole scrape where it has a limit.
const MAX_LABEL_BYTES: usize = 1024;

/// The labels of one series: names and values.
type Labels = Vec<(&'static str, String)>;

/// Who runs.
#[derive(Clone, Debug)]
pub struct OperatorInfo {
    /// Of the operator, such as `v0.60.0`.
    pub version: String,
    /// Of the API that it serves, such as `fluxcd.controlplane.io/v1`.
    pub api_version: String,
    /// Operating system and processor, such as `linux/amd64`.
    pub platform: String,
}

/// Whether this process holds the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// It does.
    Leader,
    /// Another process does, or none.
    Backup,
}

/// A handle to the metrics of the process; clones are handles to the same metrics.
#[derive(Clone, Debug)]
pub struct Metrics {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    registry: Registry,
    controllers: Controllers,
    leadership: Family<Labels, Gauge>,
    instances: Arc<InfoSeries>,
}

impl Metrics {
    /// Metrics that tell `flux_operator_info`, and of the process.
    #[must_use]
    pub fn new(operator: &OperatorInfo) -> Self {
        let mut registry = Registry::default();
        let controllers = Controllers::register(&mut registry);
        let leadership = Family::default();
        registry.register(
            "leader_election_master_status",
            "Whether this process holds the lease: 1 when it does, 0 when it waits for it",
            leadership.clone(),
        );
        let info = InfoSeries::register(&mut registry, "flux_operator_info", "The operator that runs.");
        info.set("", operator_labels(operator));
        let instances = InfoSeries::register(
            &mut registry,
            "flux_instance_info",
            "The current status of a FluxInstance of the cluster.",
        );
        registry.register_collector(Box::new(Process::of_this()));
        Self { inner: Arc::new(Inner { registry, controllers, leadership, instances }) }
    }

    /// Announces a controller and how many objects it reconciles at once, so that its counters start at zero.
    pub fn add_controller(&self, controller: &str, max_concurrent: u32) {
        self.inner.controllers.add(controller, max_concurrent);
    }

    /// One reconciliation ended.
    pub fn observe_reconcile(&self, controller: &str, outcome: Outcome, duration: Duration) {
        self.inner.controllers.observe(controller, outcome, duration);
    }

    /// One more worker is busy until the answer is dropped.
    pub fn start_work(&self, controller: &str) -> ActiveWorker {
        self.inner.controllers.start_work(controller)
    }

    /// Whether this process holds a lease, by the name of the lease.
    pub fn set_leadership(&self, lease: &str, leadership: Leadership) {
        let held = match leadership {
            Leadership::Leader => 1,
            Leadership::Backup => 0,
        };
        self.inner.leadership.get_or_create_owned(&vec![("name", label(lease))]).set(held);
    }

    /// Shows a FluxInstance as it is now, in place of what was shown of the same uid.
    pub fn set_instance(&self, instance: &InstanceInfo) {
        self.inner.instances.set(&instance.uid, instance.labels());
    }

    /// Shows a FluxInstance no longer.
    pub fn remove_instance(&self, uid: &str) {
        self.inner.instances.remove(uid);
    }

    /// Everything in the text format 0.0.4 of Prometheus. It reads /proc, and its time grows with the number
    /// of series: call it where blocking is fine.
    ///
    /// # Errors
    /// When a metric cannot be written, which none of these does.
    pub fn to_text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.inner.registry)?;
        Ok(text)
    }
}

fn operator_labels(operator: &OperatorInfo) -> Labels {
    vec![
        ("version", label(&operator.version)),
        ("api_version", label(&operator.api_version)),
        ("platform", label(&operator.platform)),
    ]
}

/// Text as the value of a label: bounded, and without user names and passwords of URLs.
fn label(text: &str) -> String {
    CutText::of(&without_userinfo(text), MAX_LABEL_BYTES).as_written().to_owned()
}
