//! One pass over an instance: build, apply in stages, wait, tell.

use std::{future::Future, path::Path, time::Duration};

use crds::{
    FluxInstance, FluxInstanceStatus, conditions,
    keys::{self, is_disabled},
};
use data_encoding::HEXLOWER;
use kube::Resource as _;
use manifests::{
    distribution::{Distribution, Embedded, Texts},
    flux_instance::{Build, build},
    objects::kind,
    order::Stage,
};
use operator_cluster::{
    RequestError,
    apply::{ApplyError, apply},
    events::Severity,
    explain,
    status::apply_status,
    wait::{WaitError, until_ready},
};
use operator_oci::{Folder, FolderError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::{task::spawn_blocking, time::Instant};
use tracing::{error, info, warn};

use super::{
    FluxInstanceReconciler, now,
    status::{Attempt, Observed},
};
use crate::schedule;

/// How long definitions, namespaces and classes may take to be usable.
const STAGE_TIMEOUT: Duration = Duration::from_mins(1);

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The cluster is as declared.
    Ready,
    /// The next try may succeed.
    Failed,
    /// The spec must change first.
    Stalled,
    /// A person asked for no passes.
    Disabled,
    /// The instance changed meanwhile.
    Interrupted,
}

/// What can go wrong once the objects are known.
#[derive(Debug, Error)]
enum ActError {
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error(transparent)]
    Wait(#[from] WaitError),
    #[error("{stage} are {source}")]
    Stage { stage: &'static str, source: WaitError },
    #[error("failed to write the status")]
    Status(#[from] RequestError),
    #[error("failed to run the build")]
    Task(#[from] tokio::task::JoinError),
}

/// What a pass works with.
pub(super) struct Pass<'a> {
    pub(super) reconciler: &'a FluxInstanceReconciler,
    pub(super) instance: &'a FluxInstance,
    pub(super) started: Instant,
}

impl Pass<'_> {
    /// Runs the pass. `newer` ends when the instance changed: a wait for readiness is then given up.
    pub(super) async fn run(&self, newer: impl Future<Output = ()>) -> Outcome {
        let observed = self.observe();
        let old = self.instance.status.clone().unwrap_or_default();
        let outcome = match self.decide().await {
            Ok(Decision::Disabled) => self.disable(&observed, &old).await,
            Ok(Decision::Stall(message)) => self.stall(&observed, &old, &message).await,
            Ok(Decision::Act(built)) => self.act(&observed, &old, &built, newer).await,
            Err(error) => Err(error),
        };
        outcome.unwrap_or_else(|problem| {
            error!(error = explain(&problem), "pass over FluxInstance could not be recorded");
            Outcome::Failed
        })
    }

    fn observe(&self) -> Observed {
        let metadata = &self.instance.metadata;
        let annotations = metadata.annotations.as_ref();
        Observed {
            generation: metadata.generation,
            requested_at: annotations.and_then(|annotations| annotations.get(keys::REQUESTED_AT)).cloned(),
            now: now(),
        }
    }

    async fn decide(&self) -> Result<Decision, ActError> {
        let annotations = self.instance.metadata.annotations.as_ref();
        if annotations
            .and_then(|annotations| annotations.get(keys::RECONCILE))
            .is_some_and(|value| is_disabled(value))
        {
            return Ok(Decision::Disabled);
        }
        if let Some(field) = unsupported_field(self.instance) {
            return Ok(Decision::Stall(format!(
                "{field} is not supported by this version of the operator: remove it"
            )));
        }
        let (instance, namespace) = (self.instance.clone(), self.reconciler.settings.namespace.clone());
        let storage_path = self.reconciler.settings.storage_path.clone();
        let built =
            spawn_blocking(move || build(&instance, &namespace, open_distribution(&storage_path).as_ref()));
        Ok(match built.await? {
            Ok(built) => Decision::Act(Box::new(built)),
            Err(error) => Decision::Stall(explain(&error)),
        })
    }

    async fn disable(&self, observed: &Observed, old: &FluxInstanceStatus) -> Result<Outcome, ActError> {
        self.write(old, &observed.disabled(old)).await?;
        warn!("reconciliation of FluxInstance is disabled by its annotation");
        self.tell(Severity::Warning, conditions::RECONCILIATION_DISABLED, "Reconciliation is disabled").await;
        Ok(Outcome::Disabled)
    }

    async fn stall(
        &self,
        observed: &Observed,
        old: &FluxInstanceStatus,
        message: &str,
    ) -> Result<Outcome, ActError> {
        let spec = serde_json::to_vec(&self.instance.spec).unwrap_or_default();
        let digest = HEXLOWER.encode(&Sha256::digest(spec));
        let attempt = self.attempt(format!("sha256:{digest}"), None);
        let status = observed.stalled(old, message, &attempt);
        let is_news = self.write(old, &status).await?;
        if is_news {
            error!(reason = conditions::BUILD_FAILED, "{message}");
            self.tell(Severity::Warning, conditions::BUILD_FAILED, message).await;
        }
        Ok(Outcome::Stalled)
    }

    async fn act(
        &self,
        observed: &Observed,
        old: &FluxInstanceStatus,
        built: &Build,
        newer: impl Future<Output = ()>,
    ) -> Result<Outcome, ActError> {
        let revision = built.revision();
        let is_new = old.last_attempted_revision.as_deref() != Some(&revision);
        let is_done = !is_new && observed.is_done(old);
        self.warn(built).await;
        let mut status = old.clone();
        if !is_done {
            let verb = if old.last_applied_revision.is_some() { "Upgrading to" } else { "Installing" };
            let message = format!("{verb} revision {revision}");
            status = observed.progressing(old, &revision, &message);
            self.write(old, &status).await?;
            if is_new {
                info!(revision, "{message}");
                self.tell(Severity::Normal, conditions::PROGRESSING, &message).await;
            }
        }
        let outcome = tokio::select! {
            done = self.bring_about(built) => done,
            () = newer => return self.interrupt(observed, &status).await,
        };
        let attempt = self.attempt(format!("sha256:{}", built.digest), Some(built.version.original()));
        match outcome {
            Ok(()) if is_done => Ok(Outcome::Ready),
            Ok(()) => {
                let message = format!("Reconciliation finished in {}", attempt.duration);
                self.write(&status, &observed.ready(&status, built, &message, &attempt)).await?;
                info!(revision, duration = attempt.duration, "FluxInstance is ready");
                self.tell(Severity::Normal, conditions::RECONCILIATION_SUCCEEDED, &message).await;
                Ok(Outcome::Ready)
            }
            Err(problem) => {
                let message = explain(&problem);
                let failed =
                    observed.failed(&status, conditions::RECONCILIATION_FAILED, &message, Some(&attempt));
                self.write(&status, &failed).await?;
                error!(reason = conditions::RECONCILIATION_FAILED, "{message}");
                self.tell(Severity::Warning, conditions::RECONCILIATION_FAILED, &message).await;
                Ok(Outcome::Failed)
            }
        }
    }

    async fn interrupt(&self, observed: &Observed, status: &FluxInstanceStatus) -> Result<Outcome, ActError> {
        let message = "the wait for readiness was given up because the FluxInstance changed";
        let canceled = observed.failed(status, conditions::HEALTH_CHECK_CANCELED, message, None);
        self.write(status, &canceled).await?;
        info!("{message}");
        self.tell(Severity::Normal, conditions::HEALTH_CHECK_CANCELED, message).await;
        Ok(Outcome::Interrupted)
    }

    /// Applies stage after stage; what later stages need must be usable before they begin.
    async fn bring_about(&self, built: &Build) -> Result<(), ActError> {
        let kinds = &self.reconciler.kinds;
        let mut applied = Vec::new();
        for stage in Stage::ALL {
            let of_stage = built.objects.iter().filter(|object| Stage::of(kind(object)) == stage);
            let objects: Vec<Value> = of_stage.cloned().collect();
            let live = apply(kinds, crds::FIELD_MANAGER, &objects).await?;
            if stage != Stage::Rest {
                until_ready(kinds, &live, STAGE_TIMEOUT)
                    .await
                    .map_err(|source| ActError::Stage { stage: stage_name(stage), source })?;
            }
            applied.extend(live);
        }
        if self.instance.spec.wait {
            until_ready(kinds, &applied, self.timeout()).await?;
        }
        Ok(())
    }

    fn timeout(&self) -> Duration {
        let annotations = self.instance.metadata.annotations.as_ref();
        schedule::timeout(schedule::annotation(annotations, keys::RECONCILE_TIMEOUT).unwrap_or_default())
    }

    /// Tells what a user should look at, once for each state.
    async fn warn(&self, built: &Build) {
        let annotations = self.instance.metadata.annotations.as_ref();
        let invalid = [keys::RECONCILE_TIMEOUT, keys::RECONCILE_EVERY]
            .into_iter()
            .filter_map(|key| schedule::annotation(annotations, key).err())
            .map(|message| (Severity::Warning, conditions::INVALID_ANNOTATION, message));
        let warnings = built
            .warnings
            .iter()
            .map(|warning| (Severity::Warning, conditions::BUILD_WARNING, warning.to_string()));
        let outdated = built.newer.iter().map(|newer| {
            let message = format!("Flux {newer} is available, and spec.distribution.version excludes it");
            (Severity::Normal, conditions::OUTDATED_VERSION, message)
        });
        let news: Vec<_> = invalid.chain(warnings).chain(outdated).collect();
        for (severity, reason, message) in self.reconciler.unreported(news) {
            warn!(reason, "{message}");
            self.tell(severity, reason, &message).await;
        }
    }

    fn attempt(&self, digest: String, version: Option<&str>) -> Attempt {
        let seconds = self.started.elapsed().as_secs_f64();
        Attempt { digest, duration: format!("{seconds:.1}s"), version: version.map(str::to_owned) }
    }

    /// Writes the status when it differs, and says whether it did.
    async fn write(&self, old: &FluxInstanceStatus, new: &FluxInstanceStatus) -> Result<bool, ActError> {
        if old == new {
            return Ok(false);
        }
        Ok(apply_status(&self.reconciler.instances(), crds::INSTANCE_NAME, new).await?)
    }

    async fn tell(&self, severity: Severity, reason: &str, note: &str) {
        self.reconciler.events.record(&self.instance.object_ref(&()), severity, reason, note).await;
    }
}

/// What is to be done for an instance.
enum Decision {
    Disabled,
    Stall(String),
    Act(Box<Build>),
}

/// The first field of the spec that this operator cannot honour yet.
fn unsupported_field(instance: &FluxInstance) -> Option<&'static str> {
    instance.spec.distribution.artifact.is_some().then_some("spec.distribution.artifact")
}

fn open_distribution(storage_path: &Path) -> Box<dyn Distribution> {
    match Folder::open_distribution(storage_path) {
        Ok(folder) => Box::new(Texts(folder)),
        Err(FolderError::NoReleases { .. }) => Box::new(Embedded),
    }
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Definitions => "CustomResourceDefinitions, Namespaces and ClusterRoles",
        Stage::Classes => "classes",
        Stage::Rest => "objects",
    }
}
