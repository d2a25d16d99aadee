//! Watching instances that belong elsewhere.

use std::collections::BTreeSet;

use crds::FluxInstance;
use futures::StreamExt as _;
use kube::{
    Api,
    core::PartialObjectMeta,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watcher},
    },
};
use operator_cluster::explain;
use tracing::debug;

use super::FluxInstanceReconciler;

impl FluxInstanceReconciler {
    /// Tells those who made an instance in another namespace where it belongs.
    pub(super) async fn watch_strays(&self) {
        let instances: Api<PartialObjectMeta<FluxInstance>> = Api::all(self.kinds.client().clone());
        let elsewhere = format!("metadata.namespace!={}", self.settings.namespace);
        let configuration = watcher::Config::default().fields(&elsewhere);
        let mut events = Box::pin(watcher(instances, configuration).default_backoff());
        let mut told = BTreeSet::new();
        while let Some(event) = events.next().await {
            let stray = match event {
                Ok(Event::InitApply(stray) | Event::Apply(stray)) => stray,
                Ok(Event::Delete(stray)) => {
                    told.remove(&stray.metadata.uid);
                    continue;
                }
                Ok(Event::Init | Event::InitDone) => continue,
                Err(problem) => {
                    debug!(error = explain(&problem), "failed to watch FluxInstances elsewhere");
                    continue;
                }
            };
            if told.insert(stray.metadata.uid.clone()) {
                let message = format!(
                    "This FluxInstance is ignored: the operator reconciles the one in namespace {}, where it runs; create it there",
                    self.settings.namespace
                );
                self.complain(&stray.metadata, &message).await;
            }
        }
    }
}
