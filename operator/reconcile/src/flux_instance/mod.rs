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
//! - What drifts is put right while everything is ready, while a pass waits, and after a pass that failed.
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
mod status;
mod uninstall;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crds::{FluxInstance, INSTANCE_NAME, ObjectId, conditions, keys};
use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client, Resource,
    core::{DeserializeGuard, GroupVersionKind, PartialObjectMeta, PartialObjectMetaExt as _},
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watch_object, watcher},
    },
};
use operator_cluster::{
    FormerManagers, Kinds,
    delete::Owner,
    events::{Events, Severity},
    explain,
    managed::{Managed, Watches},
    notifications::{Notification, address_of},
    status::write_conditions,
};
use operator_telemetry::Metrics;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tracing::{debug, error, warn};

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

    /// Keeps the last seen state of the instance at hand.
    async fn watch(&self) {
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

    /// Tells those who made an instance in another namespace where it belongs.
    async fn watch_strays(&self) {
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
                    Wake::Drifted if outcome == Outcome::Failed => {
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
        let is_kept = matches!(outcome, Outcome::Ready | Outcome::Leaving | Outcome::Failed);
        tokio::select! {
            () = newer => Wake::Changed,
            () = sleep_until_or_for_ever(due) => Wake::Due,
            () = self.drift_is_due(), if is_kept => Wake::Drifted,
            () = self.managed.left(), if is_kept && outcome != Outcome::Failed => {
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

    /// Takes note of the instance as it came out of a watch or a write, unless a later state is known.
    fn note(&self, instance: &FluxInstance) {
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
    async fn complain(&self, metadata: &ObjectMeta, message: &str) {
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

/// Versions of one object are numbers that grow; what is no number is taken as later.
fn is_later(this: &ObjectMeta, that: &ObjectMeta) -> bool {
    let number = |metadata: &ObjectMeta| metadata.resource_version.as_ref()?.parse::<u64>().ok();
    match (number(this), number(that)) {
        (Some(this_version), Some(that_version)) if this.uid == that.uid => this_version > that_version,
        _ => true,
    }
}

/// What was said of an instance that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    uid: Option<String>,
    generation: Option<i64>,
    message: String,
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
