//! Watching the instance that is reconciled, as it was last seen.

use std::time::Duration;

use crds::{FluxInstance, INSTANCE_NAME, conditions};
use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api,
    core::{DeserializeGuard, PartialObjectMetaExt as _},
    runtime::{WatchStreamExt as _, watcher::watch_object},
};
use operator_cluster::{
    events::Severity,
    explain,
    notifications::{Notification, address_of},
    status::write_conditions,
};
use tokio::time::sleep;
use tracing::{error, warn};

use super::{FluxInstanceReconciler, info, status};

/// How long until it is tried again to say on an instance that it cannot be read.
const REFUSAL_INTERVAL: Duration = Duration::from_secs(5);

/// An instance that cannot be read.
#[derive(Clone, Debug)]
struct Unreadable {
    metadata: ObjectMeta,
    message: String,
    /// Whether its conditions say so.
    is_written: bool,
}

impl Unreadable {
    /// Another one, or another mistake.
    fn is_news(&self, last: &Self) -> bool {
        self.metadata.uid != last.metadata.uid || self.message != last.message
    }

    /// Whether the conditions of the last one say it of this one too.
    fn is_covered(&self, last: &Self) -> bool {
        last.is_written && !self.is_news(last) && self.metadata.generation == last.metadata.generation
    }
}

impl FluxInstanceReconciler {
    /// Keeps the last seen state of the instance at hand.
    pub(super) async fn watch(&self) {
        let instances: Api<DeserializeGuard<FluxInstance>> =
            Api::namespaced(self.kinds.client().clone(), &self.settings.namespace);
        let mut states = Box::pin(watch_object(instances, INSTANCE_NAME).default_backoff());
        let mut refused: Option<Unreadable> = None;
        loop {
            let is_unsaid = refused.as_ref().is_some_and(|refused| !refused.is_written);
            let state = tokio::select! {
                state = states.next() => state,
                () = sleep(REFUSAL_INTERVAL), if is_unsaid => {
                    if let Some(refused) = &mut refused {
                        self.write_refusal(refused).await;
                    }
                    continue;
                }
            };
            match state {
                Some(Ok(Some(DeserializeGuard(Ok(instance))))) => {
                    refused = None;
                    self.note(&instance);
                }
                Some(Ok(Some(DeserializeGuard(Err(invalid))))) => {
                    self.note_unreadable(&invalid.metadata);
                    refused = Some(self.refuse(invalid.metadata, &invalid.error, refused).await);
                }
                Some(Ok(None)) => {
                    refused = None;
                    self.note_gone();
                }
                Some(Err(problem)) => warn!(error = explain(&problem), "failed to watch the FluxInstance"),
                None => return,
            }
        }
    }

    /// Takes note of the instance as it came out of a watch or a write, unless a later state is known.
    pub(super) fn note(&self, instance: &FluxInstance) {
        self.seen.send_if_modified(|seen| {
            let is_later = seen.as_deref().is_none_or(|known| is_later(&instance.metadata, &known.metadata));
            if is_later {
                if let Some(known) =
                    seen.as_deref().filter(|known| known.metadata.uid != instance.metadata.uid)
                {
                    self.metrics.remove_instance(known.metadata.uid.as_deref().unwrap_or_default());
                    self.start_over();
                }
                self.metrics.set_instance(&info::of(instance));
                self.events.set_address(address_of(instance, &self.settings.namespace));
                *seen = Some(Box::new(instance.clone()));
            }
            is_later
        });
    }

    fn note_gone(&self) {
        if let Some(gone) = self.seen.send_replace(None) {
            self.metrics.remove_instance(gone.metadata.uid.as_deref().unwrap_or_default());
        }
        self.start_over();
    }

    /// Nothing is reconciled while the instance cannot be read, and nothing is known of it.
    fn note_unreadable(&self, metadata: &ObjectMeta) {
        self.metrics.remove_instance(metadata.uid.as_deref().unwrap_or_default());
        self.seen.send_replace(None);
    }

    /// Says on an instance that cannot be read that it is not reconciled: what its conditions said before is true
    /// of another spec. The last refusal is not told again.
    async fn refuse(&self, metadata: ObjectMeta, problem: &str, last: Option<Unreadable>) -> Unreadable {
        let message = format!(
            "the FluxInstance cannot be read: {problem}; correct the field, or install the CustomResourceDefinitions of this version of the operator"
        );
        let mut unreadable = Unreadable { metadata, message, is_written: false };
        if last.as_ref().is_none_or(|last| unreadable.is_news(last)) {
            self.complain(&unreadable.metadata, &unreadable.message).await;
        }
        // What is written here is seen here too.
        if last.is_some_and(|last| unreadable.is_covered(&last)) {
            unreadable.is_written = true;
        } else {
            self.write_refusal(&mut unreadable).await;
        }
        unreadable
    }

    async fn write_refusal(&self, unreadable: &mut Unreadable) {
        let metadata = &unreadable.metadata;
        let conditions = status::unreadable(metadata.generation, &unreadable.message);
        let written = write_conditions::<FluxInstance>(self.kinds.client(), metadata, &conditions).await;
        match written {
            Ok(()) => unreadable.is_written = true,
            Err(problem) => {
                warn!(error = explain(&problem), "the FluxInstance does not say yet that it cannot be read");
            }
        }
    }

    /// Says on an instance that it cannot be reconciled.
    pub(super) async fn complain(&self, metadata: &ObjectMeta, message: &str) {
        error!(reason = conditions::BUILD_FAILED, namespace = metadata.namespace, "{message}");
        let instance = metadata.clone().into_response_partial::<FluxInstance>();
        let told = Notification {
            severity: Severity::Warning,
            reason: conditions::BUILD_FAILED,
            message,
            metadata: &[],
        };
        self.alert(&instance, &told).await;
    }
}

/// Versions of one object are numbers that grow; what is no number is taken as later.
fn is_later(this: &ObjectMeta, that: &ObjectMeta) -> bool {
    let number = |metadata: &ObjectMeta| metadata.resource_version.as_ref()?.parse::<u64>().ok();
    match (number(this), number(that)) {
        (Some(this_version), Some(that_version)) if this.uid == that.uid => this_version > that_version,
        _ => true,
    }
}
