//! Bringing about what an instance declares: record, apply, delete what left, wait.

mod definitions;
mod outcome;
mod shards;
mod wait;

use std::{collections::BTreeSet, future::Future, time::Duration};

use crds::{FluxInstanceStatus, ObjectId, conditions, keys, status::Inventory};
use kube::core::GroupVersionKind;
use manifests::{flux_instance::Build, objects::kind, order::Stage};
use operator_cluster::{
    Takeover,
    apply::{Applier, ApplyError, Desired},
    definitions::DefinitionError,
    delete::Owner,
    events::Severity,
    explain,
    inventory::{confirm, forget_uid, intent, is_confirmed, stale},
    wait::WaitError,
};
use serde_json::Value;
use thiserror::Error;
use tokio::time::Instant;
use tracing::info;

use super::{
    changes::Action,
    pass::{Outcome, Pass, PassError},
    removal::RemovalError,
    size::{describe_excess, excess},
};
use crate::schedule;
use definitions::Report;

/// How often every object is applied although none is known to have drifted.
pub(super) const FULL_PASS_INTERVAL: Duration = Duration::from_hours(24);

/// The most failures that one message names.
const NAMED_FAILURES: usize = 10;

/// What can go wrong once the objects are known.
#[derive(Debug, Error)]
enum InstallError {
    #[error("{}", sentences(.0))]
    Definitions(Vec<DefinitionError>),
    #[error("{}", sentences(.0))]
    Apply(Vec<ApplyError>),
    #[error(transparent)]
    Removal(#[from] RemovalError),
    #[error("{stage} are {source}")]
    Stage { stage: &'static str, source: WaitError },
    #[error(transparent)]
    Wait(#[from] WaitError),
}

/// Why a pass is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    /// The revision was never tried.
    NewRevision,
    /// The revision was tried, and has not succeeded as it is wanted now.
    Unfinished,
    /// The last pass succeeded: only what drifted is applied.
    Settled,
}

/// What is being brought about, and what is known of it so far.
struct Work<'b> {
    built: &'b Build,
    /// Everything that may exist; confirmed entries have a uid.
    inventory: Inventory,
    /// What was recorded before this pass.
    recorded: Inventory,
    /// The objects that are applied in this pass.
    pending: Vec<&'b Value>,
    /// Those that were applied, as the cluster has them.
    live: Vec<Value>,
    /// What became of definitions, besides being applied.
    report: Report,
}

impl<'b> Work<'b> {
    /// Nothing is done yet.
    fn new(built: &'b Build, recorded: Inventory) -> Self {
        let inventory = intent(&recorded, &built.objects);
        Self { built, inventory, recorded, pending: Vec::new(), live: Vec::new(), report: Report::default() }
    }

    /// Takes note of objects as they came out of an apply.
    fn see(&mut self, applied: Vec<Value>) {
        let again: BTreeSet<ObjectId> = applied.iter().map(ObjectId::of).collect();
        self.live.retain(|object| !again.contains(&ObjectId::of(object)));
        self.live.extend(applied);
    }
}

impl Pass<'_> {
    /// Makes the cluster agree with the build.
    pub(super) async fn install(
        &mut self,
        built: &Build,
        newer: impl Future<Output = ()>,
    ) -> Result<Outcome, PassError> {
        self.warn(built).await;
        let old = self.status();
        let mut work = Work::new(built, old.inventory.clone().unwrap_or_default());
        if let Some(bytes) = excess(&old, &work.inventory) {
            return self.stall(&describe_excess(bytes, work.inventory.entries.len())).await;
        }
        let occasion = self.occasion(&work, &old);
        work.pending = self.pending(built, occasion);
        match occasion {
            Occasion::Settled => {
                let pending = work.pending.clone();
                self.record_losses(&mut work, &pending).await?;
            }
            Occasion::NewRevision | Occasion::Unfinished => self.announce(&work, occasion).await?,
        }
        self.reconciler.note_applied(&self.instance, built);
        let done = tokio::select! {
            done = self.bring_about(&mut work) => done,
            () = newer => return self.interrupt(&work).await,
        };
        match done {
            Ok(()) => self.succeed(work, occasion).await,
            Err(problem) => self.fail(&work, &problem).await,
        }
    }

    fn occasion(&self, work: &Work<'_>, old: &FluxInstanceStatus) -> Occasion {
        if old.last_attempted_revision.as_deref() != Some(&work.built.revision()) {
            return Occasion::NewRevision;
        }
        if work.inventory != work.recorded || !self.observed.is_done(old) {
            return Occasion::Unfinished;
        }
        Occasion::Settled
    }

    /// The objects to apply: all when something changed or the daily pass is due, else those that drifted.
    fn pending<'b>(&self, built: &'b Build, occasion: Occasion) -> Vec<&'b Value> {
        if occasion != Occasion::Settled || self.reconciler.is_full_pass_due() {
            return built.objects.iter().collect();
        }
        let (managed, due) = (&self.reconciler.managed, self.reconciler.due_drift());
        let later: BTreeSet<ObjectId> =
            managed.drifted().into_iter().filter(|id| !due.contains(id)).collect();
        let is_pending = |id: ObjectId| managed.has_drifted(&id) && !later.contains(&id);
        built.objects.iter().filter(|object| is_pending(ObjectId::of(object))).collect()
    }

    /// Records what may exist from now on, before the first object is created.
    async fn announce(&mut self, work: &Work<'_>, occasion: Occasion) -> Result<(), PassError> {
        let old = self.status();
        let revision = work.built.revision();
        let verb = if old.last_applied_revision.is_some() { "Upgrading to" } else { "Installing" };
        let message = format!("{verb} revision {revision}");
        let status = self.observed.progressing(&old, &revision, &message, work.inventory.clone());
        self.write(status).await?;
        if occasion == Occasion::NewRevision {
            info!(revision, "{message}");
            self.tell(Severity::Normal, conditions::PROGRESSING, &message).await;
        }
        Ok(())
    }

    /// An object that somebody deleted comes back as another one: its uid is forgotten before that, so that a
    /// crash in between leaves no entry that names an object which is not ours.
    async fn record_losses(&mut self, work: &mut Work<'_>, objects: &[&Value]) -> Result<(), PassError> {
        let managed = &self.reconciler.managed;
        for object in objects.iter().filter(|object| managed.is_gone(&ObjectId::of(object))) {
            forget_uid(&mut work.inventory, object);
        }
        self.write_inventory(work).await
    }

    async fn write_inventory(&mut self, work: &Work<'_>) -> Result<(), PassError> {
        let mut status = self.status();
        status.inventory = Some(work.inventory.clone());
        self.write(status).await
    }

    async fn bring_about(&mut self, work: &mut Work<'_>) -> Result<(), InstallError> {
        for stage in Stage::ALL {
            self.apply_stage(work, stage).await?;
        }
        self.watch(work.built);
        self.prune(work).await?;
        if self.instance.spec.wait {
            self.wait(work).await?;
        }
        self.migrate(work).await;
        Ok(())
    }

    /// Applies the objects of a stage. What later stages need is usable afterwards.
    async fn apply_stage(&mut self, work: &mut Work<'_>, stage: Stage) -> Result<(), InstallError> {
        let objects =
            work.pending.iter().copied().filter(|object| Stage::of(kind(object)) == stage).collect();
        let live = self.apply(work, objects).await?;
        if stage != Stage::Rest {
            self.wait_until_usable(&live, stage).await?;
        }
        work.see(live);
        Ok(())
    }

    /// Applies objects, and gives them as the cluster has them. What was applied is known also when others failed.
    async fn apply<'b>(
        &self,
        work: &mut Work<'b>,
        objects: Vec<&'b Value>,
    ) -> Result<Vec<Value>, InstallError> {
        let objects = self.make_way(work, objects).await?;
        let desired: Vec<Desired<'_>> = objects
            .iter()
            .map(|object| Desired {
                object,
                takeover: (!is_confirmed(&work.recorded, object)).then(|| extent(object)),
            })
            .collect();
        let applier = Applier { kinds: &self.reconciler.kinds, former: &self.reconciler.former };
        let before = self.reconciler.managed.versions();
        let outcomes = applier.apply(&desired).await;
        for object in objects {
            self.reconciler.drift().note_tried(&ObjectId::of(object), Instant::now());
        }
        let (mut live, mut failures) = (Vec::new(), Vec::new());
        for outcome in outcomes {
            match outcome {
                Ok(done) => {
                    self.reconciler.managed.note_applied(&done.object);
                    // One that was changed a moment ago looks as if this apply had changed it.
                    if let Some(action) = Action::of(done.change).filter(|_| !before.hold(&done.object)) {
                        self.reconciler.changes().note(ObjectId::of(&done.object), action);
                    }
                    live.push(done.object);
                }
                Err(failure) => failures.push(failure),
            }
        }
        confirm(&mut work.inventory, &live);
        if failures.is_empty() { Ok(live) } else { Err(InstallError::Apply(failures)) }
    }

    /// Deletes what left the build. What is not confirmed gone stays recorded.
    async fn prune(&mut self, work: &mut Work<'_>) -> Result<(), InstallError> {
        let left: Vec<_> = stale(&work.inventory, &work.built.objects).cloned().collect();
        self.warn_of_shards(work.built, &left).await;
        Ok(self.remove(&mut work.inventory, &left).await?)
    }

    /// Watches all that was applied.
    fn watch(&self, built: &Build) {
        let kinds = built.objects.iter().map(|object| {
            let (group, version) = manifests::objects::split_api_version(object);
            GroupVersionKind::gvk(group, version, kind(object))
        });
        self.reconciler.watch_kinds(kinds, self.owner());
    }

    fn timeout(&self) -> Duration {
        let annotations = self.instance.metadata.annotations.as_ref();
        schedule::timeout(schedule::annotation(annotations, keys::RECONCILE_TIMEOUT).unwrap_or_default())
    }

    pub(super) fn owner(&self) -> Owner<'_> {
        Owner { name: crds::INSTANCE_NAME, namespace: &self.reconciler.settings.namespace }
    }
}

/// What users set on the sync objects besides the instance (`suspend`, `decryption`, `postBuild`) stays theirs.
fn extent(object: &Value) -> Takeover {
    if is_sync(object) { Takeover::Metadata } else { Takeover::Object }
}

/// Whether an object is the source or the Kustomization of the sync.
fn is_sync(object: &Value) -> bool {
    matches!(kind(object), "GitRepository" | "OCIRepository" | "Bucket" | "Kustomization")
}

/// The failures in one message, in order of their objects.
pub(super) fn sentences<E: std::error::Error + 'static>(failures: &[E]) -> String {
    let mut sentences: Vec<String> = failures.iter().map(|failure| explain(failure)).collect();
    sentences.sort();
    let more = sentences.len().saturating_sub(NAMED_FAILURES);
    sentences.truncate(NAMED_FAILURES);
    let named = sentences.join("; ");
    if more == 0 { named } else { format!("{named}; and {more} more") }
}
