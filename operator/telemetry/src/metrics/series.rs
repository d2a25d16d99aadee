//! Series that tell by their labels: one an object, with the value 1.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{MetricType, gauge::ConstGauge},
    registry::Registry,
};

use super::Labels;

/// One series for each uid. A scrape sees it with its old labels or with its new ones, never with both or
/// not at all: they are not stored as what is scraped, but written from here by each scrape.
#[derive(Debug)]
pub(super) struct InfoSeries {
    name: &'static str,
    help: &'static str,
    by_uid: Mutex<BTreeMap<String, Labels>>,
}

impl InfoSeries {
    pub(super) fn register(registry: &mut Registry, name: &'static str, help: &'static str) -> Arc<Self> {
        let series = Arc::new(Self { name, help, by_uid: Mutex::default() });
        registry.register_collector(Box::new(Arc::clone(&series)));
        series
    }

    pub(super) fn set(&self, uid: &str, labels: Labels) {
        self.by_uid().insert(uid.to_owned(), labels);
    }

    pub(super) fn remove(&self, uid: &str) {
        self.by_uid().remove(uid);
    }

    fn by_uid(&self) -> MutexGuard<'_, BTreeMap<String, Labels>> {
        self.by_uid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for InfoSeries {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let by_uid = self.by_uid();
        if by_uid.is_empty() {
            return Ok(());
        }
        let mut family = encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?;
        for labels in by_uid.values() {
            ConstGauge::new(1_i64).encode(family.encode_family(labels)?)?;
        }
        Ok(())
    }
}
