//! Watching the instance that is reconciled, as it was last seen.

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
use tracing::{error, warn};

use super::{Changes, FluxInstanceReconciler, info, status};

/// What was said of an instance that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    uid: Option<String>,
    generation: Option<i64>,
    message: String,
}

impl FluxInstanceReconciler {
    /// Keeps the last seen state of the instance at hand.
    pub(super) async fn watch(&self) {
        let instances: Api<DeserializeGuard<FluxInstance>> =
            Api::namespaced(self.kinds.client().clone(), &self.settings.namespace);
        let mut states = Box::pin(watch_object(instances, INSTANCE_NAME).default_backoff());
        let mut refusal = None;
        while let Some(state) = states.next().await {
            match state {
                Ok(Some(DeserializeGuard(Ok(instance)))) => {
                    refusal = None;
                    self.note(&instance);
                }
                Ok(Some(DeserializeGuard(Err(invalid)))) => {
                    self.note_unreadable(&invalid.metadata);
                    refusal = Some(self.refuse(&invalid.metadata, &invalid.error, refusal).await);
                }
                Ok(None) => self.note_gone(),
                Err(problem) => warn!(error = explain(&problem), "failed to watch the FluxInstance"),
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
        self.managed.forget();
        *self.changes() = Changes::default();
    }

    /// Nothing is reconciled while the instance cannot be read, and nothing is known of it.
    fn note_unreadable(&self, metadata: &ObjectMeta) {
        self.metrics.remove_instance(metadata.uid.as_deref().unwrap_or_default());
        self.seen.send_replace(None);
    }

    /// Says on an instance that cannot be read that it is not reconciled: what its conditions said before is true
    /// of another spec. The last refusal is not told again.
    async fn refuse(&self, metadata: &ObjectMeta, problem: &str, last: Option<Refusal>) -> Refusal {
        let message = format!(
            "the FluxInstance cannot be read: {problem}; correct the field, or install the CustomResourceDefinitions of this version of the operator"
        );
        let refusal = Refusal { uid: metadata.uid.clone(), generation: metadata.generation, message };
        // What is written here is seen here too.
        if last.as_ref() == Some(&refusal) {
            return refusal;
        }
        if last.is_none_or(|last| (last.uid, last.message) != (refusal.uid.clone(), refusal.message.clone()))
        {
            self.complain(metadata, &refusal.message).await;
        }
        let conditions = status::unreadable(metadata.generation, &refusal.message);
        let written = write_conditions::<FluxInstance>(self.kinds.client(), metadata, &conditions).await;
        if let Err(problem) = written {
            warn!(error = explain(&problem), "the FluxInstance does not say that it cannot be read");
        }
        refusal
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
