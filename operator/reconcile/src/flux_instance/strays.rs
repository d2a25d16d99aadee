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
        let mut strays = Strays::default();
        while let Some(event) = events.next().await {
            let stray = match event {
                Ok(Event::InitApply(stray) | Event::Apply(stray)) => stray,
                Ok(Event::Delete(stray)) => {
                    strays.forget(stray.metadata.uid.as_deref());
                    continue;
                }
                Ok(Event::Init) => {
                    strays.begin_list();
                    continue;
                }
                Ok(Event::InitDone) => {
                    strays.end_list();
                    continue;
                }
                Err(problem) => {
                    debug!(error = explain(&problem), "failed to watch FluxInstances elsewhere");
                    continue;
                }
            };
            if strays.is_new(stray.metadata.uid.as_deref()) {
                let message = format!(
                    "This FluxInstance is ignored: the operator reconciles the one in namespace {}, where it runs; create it there",
                    self.settings.namespace
                );
                self.complain(&stray.metadata, &message).await;
            }
        }
    }
}

/// The instances elsewhere that were told where they belong.
#[derive(Debug, Default)]
struct Strays {
    told: BTreeSet<String>,
    /// Those that the list holds which is being read.
    listed: BTreeSet<String>,
}

impl Strays {
    /// Takes note of one, and says whether it was not told yet.
    fn is_new(&mut self, uid: Option<&str>) -> bool {
        let uid = uid.unwrap_or_default();
        self.listed.insert(uid.to_owned());
        self.told.insert(uid.to_owned())
    }

    fn forget(&mut self, uid: Option<&str>) {
        self.told.remove(uid.unwrap_or_default());
        self.listed.remove(uid.unwrap_or_default());
    }

    fn begin_list(&mut self) {
        self.listed.clear();
    }

    /// Whatever a complete list does not hold is gone.
    fn end_list(&mut self) {
        self.told = std::mem::take(&mut self.listed);
    }
}

#[cfg(test)]
mod tests {
    use super::Strays;

    #[test]
    fn each_is_told_once_and_those_that_went_unseen_are_forgotten() {
        let mut strays = Strays::default();
        strays.begin_list();
        assert!(strays.is_new(Some("a")) && strays.is_new(Some("b")));
        strays.end_list();
        assert!(strays.is_new(Some("c")) && !strays.is_new(Some("a")));
        strays.forget(Some("c"));
        assert!(strays.is_new(Some("c")));

        // The watch broke, and `b` went meanwhile.
        strays.begin_list();
        assert!(!strays.is_new(Some("a")) && !strays.is_new(Some("c")));
        strays.end_list();
        assert_eq!(strays.told.iter().collect::<Vec<_>>(), ["a", "c"]);
    }
}
