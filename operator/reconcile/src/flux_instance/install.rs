//! Bringing about what an instance declares: record, apply, delete what left, wait.

mod definitions;

use std::{future::Future, time::Duration};

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
    wait::{WaitError, until_ready},
};
use serde_json::Value;
use thiserror::Error;
use tracing::{error, info};

use super::{
    pass::{Outcome, Pass, PassError},
    removal::RemovalError,
};
use crate::{conditions::find, schedule};
use definitions::Report;

/// How long definitions, namespaces and classes may take to be usable.
const STAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// How often every object is applied although none is known to have drifted.
pub(super) const FULL_PASS_INTERVAL: Duration = Duration::from_hours(24);

/// The most objects that one message names.
const NAMED_OBJECTS: usize = 10;

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

impl Pass<'_> {
    /// Makes the cluster agree with the build.
    pub(super) async fn install(
        &mut self,
        built: &Build,
        newer: impl Future<Output = ()>,
    ) -> Result<Outcome, PassError> {
        self.warn(built).await;
        let old = self.status();
        let revision = built.revision();
        let recorded = old.inventory.clone().unwrap_or_default();
        let inventory = intent(&recorded, &built.objects);
        let is_new = old.last_attempted_revision.as_deref() != Some(&revision);
        let is_changed = is_new || inventory != recorded || !self.observed.is_done(&old);
        let pending = self.pending(built, is_changed);
        let mut work =
            Work { built, inventory, recorded, pending, live: Vec::new(), report: Report::default() };
        if is_changed {
            self.announce(&work, is_new).await?;
        } else {
            self.record_losses(&mut work).await?;
        }
        let done = tokio::select! {
            done = self.bring_about(&mut work) => done,
            () = newer => return self.interrupt(&work).await,
        };
        match done {
            Ok(()) => self.succeed(work, is_changed).await,
            Err(problem) => self.fail(&work, &problem).await,
        }
    }

    /// The objects to apply: all when something changed or the daily pass is due, else those that drifted.
    fn pending<'b>(&self, built: &'b Build, is_changed: bool) -> Vec<&'b Value> {
        if is_changed || self.reconciler.is_full_pass_due() {
            return built.objects.iter().collect();
        }
        let managed = &self.reconciler.managed;
        built.objects.iter().filter(|object| managed.has_drifted(&ObjectId::of(object))).collect()
    }

    /// Records what may exist from now on, before the first object is created.
    async fn announce(&mut self, work: &Work<'_>, is_new: bool) -> Result<(), PassError> {
        let old = self.status();
        let revision = work.built.revision();
        let verb = if old.last_applied_revision.is_some() { "Upgrading to" } else { "Installing" };
        let message = format!("{verb} revision {revision}");
        let status = self.observed.progressing(&old, &revision, &message, work.inventory.clone());
        self.write(status).await?;
        if is_new {
            info!(revision, "{message}");
            self.tell(Severity::Normal, conditions::PROGRESSING, &message).await;
        }
        Ok(())
    }

    /// An object that somebody deleted comes back as another one: its uid is forgotten before that, so that a
    /// crash in between leaves no entry that names an object which is not ours.
    async fn record_losses(&mut self, work: &mut Work<'_>) -> Result<(), PassError> {
        let managed = &self.reconciler.managed;
        for object in work.pending.iter().filter(|object| managed.is_gone(&ObjectId::of(object))) {
            forget_uid(&mut work.inventory, object);
        }
        let mut status = self.status();
        status.inventory = Some(work.inventory.clone());
        self.write(status).await
    }

    async fn bring_about(&self, work: &mut Work<'_>) -> Result<(), InstallError> {
        for stage in Stage::ALL {
            self.apply_stage(work, stage).await?;
        }
        self.watch(work.built);
        self.prune(work).await?;
        if self.instance.spec.wait {
            until_ready(&self.reconciler.kinds, &work.live, self.timeout()).await?;
        }
        self.migrate(work).await;
        Ok(())
    }

    /// Applies the objects of a stage. What later stages need is usable afterwards.
    async fn apply_stage(&self, work: &mut Work<'_>, stage: Stage) -> Result<(), InstallError> {
        let objects =
            work.pending.iter().copied().filter(|object| Stage::of(kind(object)) == stage).collect();
        let objects = self.make_way(work, objects).await?;
        let desired: Vec<Desired<'_>> = objects
            .into_iter()
            .map(|object| Desired {
                object,
                takeover: (!is_confirmed(&work.recorded, object)).then(|| extent(object)),
            })
            .collect();
        let applier = Applier { kinds: &self.reconciler.kinds, former: &self.reconciler.former };
        let (mut live, mut failures) = (Vec::new(), Vec::new());
        for outcome in applier.apply(&desired).await {
            match outcome {
                Ok(done) => {
                    self.reconciler.managed.note_applied(&done.object);
                    live.push(done.object);
                }
                Err(failure) => failures.push(failure),
            }
        }
        confirm(&mut work.inventory, &live);
        if !failures.is_empty() {
            return Err(InstallError::Apply(failures));
        }
        if stage != Stage::Rest {
            until_ready(&self.reconciler.kinds, &live, STAGE_TIMEOUT)
                .await
                .map_err(|source| InstallError::Stage { stage: stage_name(stage), source })?;
        }
        work.live.extend(live);
        Ok(())
    }

    /// Deletes what left the build. What is not confirmed gone stays recorded.
    async fn prune(&self, work: &mut Work<'_>) -> Result<(), InstallError> {
        let left: Vec<_> = stale(&work.inventory, &work.built.objects).cloned().collect();
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

    async fn succeed(&mut self, work: Work<'_>, is_changed: bool) -> Result<Outcome, PassError> {
        let is_leaving = work.inventory.entries.len() > work.built.objects.len();
        let outcome = if is_leaving { Outcome::Leaving } else { Outcome::Ready };
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = super::now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        let is_full = work.pending.len() == work.built.objects.len();
        if is_full {
            self.reconciler.note_full_pass();
        }
        let left_alone = work.report.left_alone(&work.built.version);
        if !is_full && !is_changed {
            self.tell_repair(&work).await;
        }
        self.tell_rewritten(&work.report).await;
        if !is_changed && tail(&old) == left_alone {
            self.write(old).await?;
            return Ok(outcome);
        }
        self.tell_newer(&work.report, &work.built.version).await;
        if let Some(force) = self.force_request() {
            old.last_handled_force_at = Some(force);
        }
        let message = format!("Reconciliation finished in {}{left_alone}", attempt.duration);
        let status = self.observed.ready(&old, work.built, &message, &attempt);
        self.write(status).await?;
        info!(revision = work.built.revision(), duration = attempt.duration, "the FluxInstance is ready");
        self.tell(Severity::Normal, conditions::RECONCILIATION_SUCCEEDED, &message).await;
        Ok(outcome)
    }

    async fn tell_repair(&self, work: &Work<'_>) {
        let repaired = work.pending.iter().filter(|object| !work.report.leaves(object));
        let names: Vec<String> = repaired.map(|object| ObjectId::of(object).to_string()).collect();
        if names.is_empty() {
            return;
        }
        let message = format!("Corrected drift in {}", names.join(", "));
        info!("{message}");
        self.tell(Severity::Normal, conditions::RECONCILIATION_SUCCEEDED, &message).await;
    }

    async fn fail(&mut self, work: &Work<'_>, problem: &InstallError) -> Result<Outcome, PassError> {
        let message = explain(problem);
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = super::now();
        let mut old = self.status();
        let is_news = !self.observed.says(&old, conditions::RECONCILIATION_FAILED, &message);
        old.inventory = Some(work.inventory.clone());
        let status = self.observed.failed(&old, conditions::RECONCILIATION_FAILED, &message, Some(&attempt));
        self.write(status).await?;
        if is_news {
            error!(reason = conditions::RECONCILIATION_FAILED, "{message}");
            self.tell(Severity::Warning, conditions::RECONCILIATION_FAILED, &message).await;
        }
        Ok(Outcome::Failed)
    }

    async fn interrupt(&mut self, work: &Work<'_>) -> Result<Outcome, PassError> {
        let message = "The pass was given up because the FluxInstance changed";
        // What was applied last may not be recorded with its uid.
        self.reconciler.managed.forget();
        self.observed.now = super::now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        let status = self.observed.failed(&old, conditions::HEALTH_CHECK_CANCELED, message, None);
        self.write(status).await?;
        info!("{message}");
        self.tell(Severity::Normal, conditions::HEALTH_CHECK_CANCELED, message).await;
        Ok(Outcome::Interrupted)
    }

    fn timeout(&self) -> Duration {
        let annotations = self.instance.metadata.annotations.as_ref();
        schedule::timeout(schedule::annotation(annotations, keys::RECONCILE_TIMEOUT).unwrap_or_default())
    }

    pub(super) fn owner(&self) -> Owner<'_> {
        Owner { name: crds::INSTANCE_NAME, namespace: &self.reconciler.settings.namespace }
    }
}

/// What the last success said of definitions.
fn tail(status: &FluxInstanceStatus) -> &str {
    let message = find(&status.conditions, conditions::READY).map(|ready| ready.message.as_str());
    message.and_then(|message| message.find(';').and_then(|start| message.get(start..))).unwrap_or_default()
}

/// What users set on the sync objects besides the instance (`suspend`, `decryption`, `postBuild`) stays theirs.
fn extent(object: &Value) -> Takeover {
    match kind(object) {
        "GitRepository" | "OCIRepository" | "Bucket" | "Kustomization" => Takeover::Metadata,
        _ => Takeover::Object,
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Definitions => "CustomResourceDefinitions, Namespaces and ClusterRoles",
        Stage::Classes => "classes",
        Stage::Rest => "objects",
    }
}

/// The failures in one message, in order of their objects.
pub(super) fn sentences<E: std::error::Error + 'static>(failures: &[E]) -> String {
    let mut sentences: Vec<String> = failures.iter().map(|failure| explain(failure)).collect();
    sentences.sort();
    let more = sentences.len().saturating_sub(NAMED_OBJECTS);
    sentences.truncate(NAMED_OBJECTS);
    let named = sentences.join("; ");
    if more == 0 { named } else { format!("{named}; and {more} more") }
}
