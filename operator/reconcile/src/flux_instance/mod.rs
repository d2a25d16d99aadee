//! Keeps the Flux of a cluster as its `FluxInstance` declares it.
//!
//! # Expected flow
//! A change of the spec or of an annotation, or the end of the interval, starts a pass: the manifests are
//! built, applied stage by stage, and watched until they are ready; the conditions tell what came of it.
//!
//! # Guarantees
//! - Every pass reads the instance as it was last seen by the watch, and ends in a condition.
//! - A spec that cannot be built changes nothing in the cluster: Ready=False and Stalled, with the field.
//! - A failed pass is repeated after 750 ms, doubling to 15 min, until it succeeds or the instance changes.
//! - A change of the instance ends a wait for readiness at once.
//!
//! # Assumptions
//! One `FluxInstance`, named `flux`, in the namespace of the operator. Nothing else writes its status.
//!
//! # Caveats
//! Objects that leave the build are not deleted, and deleting the instance leaves Flux in place.

mod pass;
mod status;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crds::{FluxInstance, INSTANCE_NAME, conditions, keys};
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::{
    Api, Client, Resource as _,
    core::{DeserializeGuard, error_boundary::InvalidObject},
    runtime::{WatchStreamExt as _, watcher::watch_object},
};
use operator_cluster::{
    Kinds,
    events::{Events, Severity},
    explain,
    status::get,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tracing::{error, warn};

use crate::{backoff::Backoff, schedule};
use pass::{Outcome, Pass};

/// What the operator is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the operator, of the instance and of Flux.
    pub namespace: String,
    /// A folder with a distribution of Flux; where it holds none, the embedded one is used.
    pub storage_path: PathBuf,
    /// Name of the pod, for events.
    pub pod_name: Option<String>,
}

/// Reconciles the one instance of a cluster.
pub struct FluxInstanceReconciler {
    kinds: Kinds,
    events: Events,
    settings: Settings,
    reported: Mutex<BTreeSet<String>>,
}

/// The instance as last seen; none when there is none.
type Observation = Option<Box<FluxInstance>>;

impl FluxInstanceReconciler {
    /// A reconciler for the cluster that the client is connected to.
    #[must_use]
    pub fn new(client: Client, settings: Settings) -> Self {
        Self {
            events: Events::new(client.clone(), settings.pod_name.clone()),
            kinds: Kinds::new(client),
            settings,
            reported: Mutex::default(),
        }
    }

    /// Watches and reconciles until the future is dropped.
    pub async fn run(&self) {
        let (sender, receiver) = watch::channel(None);
        tokio::select! {
            () = self.watch(&sender) => {}
            () = self.reconcile(receiver) => {}
        }
    }

    /// Keeps the last seen state of the instance at hand.
    async fn watch(&self, seen: &watch::Sender<Observation>) {
        let instances: Api<DeserializeGuard<FluxInstance>> =
            Api::namespaced(self.kinds.client().clone(), &self.settings.namespace);
        let mut states = Box::pin(watch_object(instances, INSTANCE_NAME).default_backoff());
        while let Some(state) = states.next().await {
            let instance = match state {
                Ok(Some(DeserializeGuard(Ok(instance)))) => Some(Box::new(instance)),
                Ok(Some(DeserializeGuard(Err(invalid)))) => {
                    self.refuse(&invalid).await;
                    None
                }
                Ok(None) => None,
                Err(problem) => {
                    warn!(error = explain(&problem), "failed to watch FluxInstances");
                    continue;
                }
            };
            seen.send_replace(instance.filter(|instance| instance.metadata.deletion_timestamp.is_none()));
        }
    }

    async fn reconcile(&self, mut seen: watch::Receiver<Observation>) {
        let mut backoff = Backoff::default();
        loop {
            let trigger = seen.borrow_and_update().as_deref().map(Trigger::of);
            let delay = match &trigger {
                Some(trigger) => self.pass(&seen, trigger, &mut backoff).await,
                None => None,
            };
            tokio::select! {
                () = changed(seen.clone(), trigger.as_ref()) => backoff = Backoff::default(),
                () = sleep_or_for_ever(delay) => {}
            }
        }
    }

    /// One pass over the live instance, and how long until the next.
    async fn pass(
        &self,
        seen: &watch::Receiver<Observation>,
        trigger: &Trigger,
        backoff: &mut Backoff,
    ) -> Option<Duration> {
        let instance = match get(&self.instances(), INSTANCE_NAME).await {
            Ok(instance) => instance?,
            Err(problem) => {
                warn!(error = explain(&problem), "failed to read the FluxInstance");
                return Some(backoff.next_delay());
            }
        };
        let pass = Pass { reconciler: self, instance: &instance, started: Instant::now() };
        match pass.run(changed(seen.clone(), Some(trigger))).await {
            Outcome::Ready => {
                *backoff = Backoff::default();
                interval(&instance)
            }
            Outcome::Failed => Some(backoff.next_delay()),
            Outcome::Interrupted => Some(Duration::ZERO),
            Outcome::Stalled | Outcome::Disabled => None,
        }
    }

    /// Says that an instance cannot be read at all: its definition is that of another version.
    async fn refuse(&self, invalid: &InvalidObject) {
        let message = format!(
            "the FluxInstance cannot be read: {}; install the CustomResourceDefinitions of this version of the operator",
            invalid.error
        );
        error!(reason = conditions::BUILD_FAILED, "{message}");
        let reference = ObjectReference {
            api_version: Some(FluxInstance::api_version(&()).into_owned()),
            kind: Some(FluxInstance::kind(&()).into_owned()),
            name: invalid.metadata.name.clone(),
            namespace: invalid.metadata.namespace.clone(),
            uid: invalid.metadata.uid.clone(),
            ..ObjectReference::default()
        };
        self.events.record(&reference, Severity::Warning, conditions::BUILD_FAILED, &message).await;
    }

    fn instances(&self) -> Api<FluxInstance> {
        Api::namespaced(self.kinds.client().clone(), &self.settings.namespace)
    }

    /// The messages that were not told yet. What is no longer true may be told again.
    fn unreported<T>(&self, news: Vec<(T, &'static str, String)>) -> Vec<(T, &'static str, String)> {
        let current: BTreeSet<String> = news.iter().map(|(_, _, message)| message.clone()).collect();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *reported, current);
        news.into_iter().filter(|(_, _, message)| !before.contains(message)).collect()
    }
}

/// What starts a pass when it changes: not the status, which is ours.
#[derive(Clone, Debug, PartialEq)]
struct Trigger {
    uid: Option<String>,
    generation: Option<i64>,
    annotations: Option<BTreeMap<String, String>>,
}

impl Trigger {
    fn of(instance: &FluxInstance) -> Self {
        let metadata = &instance.metadata;
        Self {
            uid: metadata.uid.clone(),
            generation: metadata.generation,
            annotations: metadata.annotations.clone(),
        }
    }
}

/// Ends when the instance is not the one that started the pass any more.
async fn changed(mut seen: watch::Receiver<Observation>, trigger: Option<&Trigger>) {
    while seen.borrow_and_update().as_deref().map(Trigger::of).as_ref() == trigger {
        if seen.changed().await.is_err() {
            // The watch has ended, and this process with it.
            std::future::pending::<()>().await;
        }
    }
}

async fn sleep_or_for_ever(delay: Option<Duration>) {
    match delay {
        Some(delay) => sleep(delay).await,
        None => std::future::pending().await,
    }
}

fn interval(instance: &FluxInstance) -> Option<Duration> {
    let annotations = instance.metadata.annotations.as_ref();
    let annotated = schedule::annotation(annotations, keys::RECONCILE_EVERY).unwrap_or_default();
    let uid = instance.metadata.uid.as_deref().unwrap_or_default();
    schedule::interval(annotated).map(|interval| schedule::spread(interval, uid))
}

/// The time in RFC 3339, to the second, as Kubernetes writes it.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
