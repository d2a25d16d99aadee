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
//! - What drifts is put right while everything is ready, while a pass waits for readiness, and after a pass that
//!   failed or a spec that cannot be built.
//!
//! # Assumptions
//! One `FluxInstance`, named `flux`, in the namespace of the operator. Nothing else writes its status.
//!
//! # Caveats
//! Drift is what `managedFields` show: a field that the manifests name and somebody else changed. What others
//! add stays.

mod changes;
mod info;
mod install;
mod pass;
mod removal;
mod repair;
mod secrets;
mod seen;
mod size;
mod status;
mod strays;
mod uninstall;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crds::{FluxInstance, ObjectId, keys};
use kube::{Api, Client, Resource, core::GroupVersionKind};
use manifests::flux_instance::Build;
use operator_cluster::{
    FormerManagers, Kinds,
    delete::Owner,
    events::Events,
    managed::{Managed, Watches},
    notifications::Notification,
};
use operator_telemetry::Metrics;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    backoff::{Backoff, RetryDelays},
    drift::{DRIFT_DELAYS, DriftPace},
    schedule,
};
use changes::Changes;
use install::FULL_PASS_INTERVAL;
use pass::{Outcome, Pass};

/// Name of this controller in metrics.
const CONTROLLER: &str = "fluxinstance";

/// What the operator is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the operator, of the instance and of Flux.
    pub namespace: String,
    /// A folder with a distribution of Flux; where it holds none, the embedded one is used.
    pub storage_path: PathBuf,
    /// Field managers whose fields are taken over, besides those of kubectl, Helm and Flux.
    pub override_managers: BTreeSet<String>,
    /// How long to wait before a failed pass is repeated.
    pub retry_delays: RetryDelays,
    /// How far intervals are spread, in percent either way, 0 to 99.
    pub interval_jitter_percent: u8,
}

/// Reconciles the one instance of a cluster.
pub struct FluxInstanceReconciler {
    kinds: Arc<Kinds>,
    events: Events,
    metrics: Metrics,
    settings: Settings,
    former: FormerManagers,
    /// The instance as last seen; none when there is none.
    seen: watch::Sender<Option<Box<FluxInstance>>>,
    managed: Managed,
    watches: Mutex<Watches>,
    last_full_pass: Mutex<Option<Instant>>,
    reported: Mutex<BTreeSet<String>>,
    changes: Mutex<Changes>,
    drift: Mutex<DriftPace>,
    applied: Mutex<Option<Applied>>,
}

/// What a pass applied last: enough to build it again.
#[derive(Clone, Debug)]
struct Applied {
    instance: FluxInstance,
    revision: String,
}

type Seen = watch::Receiver<Option<Box<FluxInstance>>>;

impl FluxInstanceReconciler {
    /// A reconciler for the cluster that the client is connected to, which tells what it does by these events.
    #[must_use]
    pub fn new(client: Client, settings: Settings, events: Events, metrics: Metrics) -> Self {
        metrics.add_controller(CONTROLLER, 1);
        Self {
            metrics,
            events,
            kinds: Arc::new(Kinds::new(client)),
            former: FormerManagers { others: settings.override_managers.clone() },
            settings,
            seen: watch::Sender::new(None),
            managed: Managed::default(),
            watches: Mutex::default(),
            last_full_pass: Mutex::default(),
            reported: Mutex::default(),
            changes: Mutex::default(),
            drift: Mutex::default(),
            applied: Mutex::default(),
        }
    }

    /// Watches and reconciles until the future is dropped.
    pub async fn run(&self) {
        tokio::select! {
            () = self.watch() => {}
            () = self.watch_strays() => {}
            () = self.reconcile(self.seen.subscribe()) => {}
        }
    }

    async fn reconcile(&self, mut seen: Seen) {
        let mut backoff = Backoff::new(self.settings.retry_delays);
        loop {
            let instance = seen.borrow_and_update().clone();
            let trigger = instance.as_deref().map(Trigger::of);
            let Some(instance) = instance else {
                changed(seen.clone(), None).await;
                backoff.reset();
                continue;
            };
            let (outcome, interval) = self.pass(*instance, trigger.as_ref()).await;
            let due = next(outcome, interval, &mut backoff).map(|delay| Instant::now() + delay);
            loop {
                match self.wake(outcome, due, changed(seen.clone(), trigger.as_ref())).await {
                    Wake::Changed => {
                        backoff.reset();
                        break;
                    }
                    Wake::Drifted if matches!(outcome, Outcome::Failed | Outcome::Stalled) => {
                        let newer = changed(seen.clone(), trigger.as_ref());
                        let instance = seen.borrow().clone();
                        if let Some(instance) = instance {
                            Pass::new(self, *instance).put_right(newer).await;
                        }
                    }
                    Wake::Due | Wake::Drifted | Wake::Left => break,
                }
            }
        }
    }

    /// What comes first after a pass that ended so.
    async fn wake(&self, outcome: Outcome, due: Option<Instant>, newer: impl Future<Output = ()>) -> Wake {
        let is_done = matches!(outcome, Outcome::Ready | Outcome::Leaving);
        let is_kept = is_done || matches!(outcome, Outcome::Failed | Outcome::Stalled);
        tokio::select! {
            () = newer => Wake::Changed,
            () = sleep_until_or_for_ever(due) => Wake::Due,
            () = self.drift_is_due(), if is_kept => Wake::Drifted,
            () = self.managed.left(), if is_done => {
                // What goes together is looked at together.
                sleep(DRIFT_DELAYS.shortest).await;
                Wake::Left
            }
        }
    }

    /// Ends when an object that drifted is to be put right.
    async fn drift_is_due(&self) {
        loop {
            let first = self.drift().first_due(&self.managed.drifted(), Instant::now());
            tokio::select! {
                () = self.managed.changed() => {}
                () = sleep_until_or_for_ever(first) => return,
            }
        }
    }

    /// One pass over the instance as last seen, and how often an unchanged one is reconciled.
    async fn pass(&self, instance: FluxInstance, trigger: Option<&Trigger>) -> (Outcome, Option<Duration>) {
        let interval = self.interval(&instance);
        let started = Instant::now();
        let worker = self.metrics.start_work(CONTROLLER);
        let outcome = Pass::new(self, instance).run(changed(self.seen.subscribe(), trigger)).await;
        drop(worker);
        self.metrics.observe_reconcile(CONTROLLER, outcome.result(), started.elapsed());
        (outcome, interval)
    }

    /// Tells people of an object, and notification-controller too.
    async fn alert<K: Resource<DynamicType = ()>>(&self, object: &K, told: &Notification<'_>) {
        self.events.record(&object.object_ref(&()), told).await;
        self.events.notify(object, told);
    }

    /// How long until an unchanged instance is reconciled.
    fn interval(&self, instance: &FluxInstance) -> Option<Duration> {
        let annotations = instance.metadata.annotations.as_ref();
        let annotated = schedule::annotation(annotations, keys::RECONCILE_EVERY).unwrap_or_default();
        let uid = instance.metadata.uid.as_deref().unwrap_or_default();
        let percent = self.settings.interval_jitter_percent;
        schedule::interval(annotated).map(|interval| schedule::spread(interval, percent, uid))
    }

    fn instances(&self) -> Api<FluxInstance> {
        Api::namespaced(self.kinds.client().clone(), &self.settings.namespace)
    }

    fn watch_kinds(&self, kinds: impl IntoIterator<Item = GroupVersionKind>, owner: Owner<'_>) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.extend(&self.kinds, kinds, owner, &self.managed);
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drift(&self) -> MutexGuard<'_, DriftPace> {
        self.drift.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn applied(&self) -> MutexGuard<'_, Option<Applied>> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what is applied from now on.
    fn note_applied(&self, instance: &FluxInstance, built: &Build) {
        *self.applied() = Some(Applied { instance: instance.clone(), revision: built.revision() });
    }

    /// Forgets all that is known of an instance: the next one is another.
    fn start_over(&self) {
        self.managed.forget();
        *self.changes() = Changes::default();
        *self.drift() = DriftPace::default();
        *self.applied() = None;
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The objects that are to be put right now. They are not due again before they drift again or a while has
    /// passed, whatever comes of it.
    fn due_drift(&self) -> Vec<ObjectId> {
        let (mut drift, now, mut drifted) = (self.drift(), Instant::now(), self.managed.drifted());
        drift.first_due(&drifted, now);
        drifted.retain(|id| drift.is_due(id, now));
        for id in &drifted {
            drift.note_tried(id, now);
        }
        drifted
    }

    /// Puts off whatever is to be put right now.
    fn give_up_drift(&self) {
        let mut drift = self.drift();
        for id in self.managed.drifted() {
            drift.note_tried(&id, Instant::now());
        }
    }

    fn is_full_pass_due(&self) -> bool {
        let last = self.last_full_pass.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_none_or(|last| last.elapsed() >= FULL_PASS_INTERVAL)
    }

    fn note_full_pass(&self) {
        *self.last_full_pass.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// The messages that were not told yet. What is no longer true may be told again.
    fn unreported<T>(&self, news: Vec<(T, &'static str, String)>) -> Vec<(T, &'static str, String)> {
        let current: BTreeSet<String> = news.iter().map(|(_, _, message)| message.clone()).collect();
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *reported, current);
        news.into_iter().filter(|(_, _, message)| !before.contains(message)).collect()
    }
}

/// How long until the next pass, if nothing changes; none when only a change can help.
fn next(outcome: Outcome, interval: Option<Duration>, backoff: &mut Backoff) -> Option<Duration> {
    match outcome {
        Outcome::Ready => {
            backoff.reset();
            interval
        }
        Outcome::Failed | Outcome::Leaving | Outcome::Conflict => Some(backoff.next_delay()),
        Outcome::Interrupted => Some(Duration::ZERO),
        Outcome::Stalled | Outcome::Disabled | Outcome::Gone => None,
    }
}

/// Why the reconciler goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    /// The instance is not the one of the last pass any more.
    Changed,
    /// It is time for the next pass.
    Due,
    /// An object is to be put right.
    Drifted,
    /// An object that was to be deleted is gone.
    Left,
}

/// What starts a pass when it changes: not the status, which is ours.
#[derive(Clone, Debug, PartialEq)]
struct Trigger {
    uid: Option<String>,
    generation: Option<i64>,
    annotations: Option<BTreeMap<String, String>>,
    is_deleted: bool,
}

impl Trigger {
    fn of(instance: &FluxInstance) -> Self {
        let metadata = &instance.metadata;
        Self {
            uid: metadata.uid.clone(),
            generation: metadata.generation,
            annotations: metadata.annotations.clone(),
            is_deleted: metadata.deletion_timestamp.is_some(),
        }
    }
}

/// Ends when the instance is not the one that started the pass any more.
async fn changed(mut seen: Seen, trigger: Option<&Trigger>) {
    while seen.borrow_and_update().as_deref().map(Trigger::of).as_ref() == trigger {
        if seen.changed().await.is_err() {
            // The watch has ended, and this process with it.
            std::future::pending::<()>().await;
        }
    }
}

async fn sleep_until_or_for_ever(end: Option<Instant>) {
    match end {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// The time in RFC 3339, to the second, as Kubernetes writes it.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
