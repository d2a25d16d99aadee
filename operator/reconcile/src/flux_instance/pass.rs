//! One pass over an instance: what is to be done, and telling what came of it.

use std::{future::Future, path::Path};

use crds::{
    FluxInstance, FluxInstanceStatus, INSTANCE_NAME, conditions,
    keys::{self, is_disabled},
};
use data_encoding::HEXLOWER;
use kube::Resource as _;
use manifests::{
    distribution::{Distribution, Embedded, Texts},
    flux_instance::{Build, BuildError, build},
};
use operator_cluster::{
    RequestError,
    events::Severity,
    explain,
    notifications::Notification,
    status::{apply_status, read, set_finalizers},
};
use operator_oci::{Folder, FolderError};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::{task::spawn_blocking, time::Instant};
use tracing::{error, warn};

use super::{
    FluxInstanceReconciler, Trigger, now,
    status::{Attempt, Observed},
};
use crate::schedule;

/// What the revision is called in events.
const REVISION: &str = "revision";

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The cluster is as declared.
    Ready,
    /// The cluster is as declared, but for objects that are still going.
    Leaving,
    /// The next try may succeed.
    Failed,
    /// The spec must change first.
    Stalled,
    /// A person asked for no passes.
    Disabled,
    /// The instance changed meanwhile.
    Interrupted,
    /// Somebody else wrote the instance meanwhile: the pass starts anew from what is there.
    Conflict,
    /// The instance is gone.
    Gone,
}

impl Outcome {
    /// The same in the words of metrics.
    pub(super) fn result(self) -> operator_telemetry::Outcome {
        match self {
            Self::Ready | Self::Leaving => operator_telemetry::Outcome::RequeueAfter,
            Self::Failed => operator_telemetry::Outcome::Error,
            Self::Stalled => operator_telemetry::Outcome::TerminalError,
            Self::Interrupted | Self::Conflict => operator_telemetry::Outcome::Requeue,
            Self::Disabled | Self::Gone => operator_telemetry::Outcome::Success,
        }
    }
}

/// Why a pass could not tell how it ended.
#[derive(Debug, Error)]
pub(super) enum PassError {
    #[error("the FluxInstance is gone")]
    Gone,
    #[error("the FluxInstance was changed by somebody else")]
    Conflict,
    #[error("failed to write the status")]
    Status(#[source] RequestError),
    #[error("failed to change the finalizer")]
    Finalizer(#[source] RequestError),
    #[error("failed to run the build")]
    Task(#[from] tokio::task::JoinError),
}

/// A pass and what it works with.
pub(super) struct Pass<'a> {
    pub(super) reconciler: &'a FluxInstanceReconciler,
    /// The instance, with the status as last written.
    pub(super) instance: FluxInstance,
    pub(super) observed: Observed,
    started: Instant,
    /// When the status was last written, or tried to be.
    pub(super) told: Instant,
}

/// What is to be done for an instance.
pub(super) enum Decision {
    Disable,
    Uninstall,
    AddFinalizer,
    Stall(String),
    /// The manifests cannot be read; another try may succeed.
    Retry(String),
    Install(Box<Build>),
}

impl<'a> Pass<'a> {
    pub(super) fn new(reconciler: &'a FluxInstanceReconciler, instance: FluxInstance) -> Self {
        let metadata = &instance.metadata;
        let annotations = metadata.annotations.as_ref();
        let observed = Observed {
            generation: metadata.generation,
            requested_at: annotations.and_then(|annotations| annotations.get(keys::REQUESTED_AT)).cloned(),
            now: now(),
        };
        let started = Instant::now();
        Self { reconciler, instance, observed, started, told: started }
    }

    /// Runs the pass. `newer` ends when the instance changed: a wait for readiness is then given up.
    pub(super) async fn run(mut self, newer: impl Future<Output = ()>) -> Outcome {
        let outcome = match self.decide().await {
            Ok(Decision::Disable) => self.disable().await,
            Ok(Decision::Uninstall) => self.uninstall(newer).await,
            Ok(Decision::AddFinalizer) => self.add_finalizer().await,
            Ok(Decision::Stall(message)) => self.stall(&message).await,
            Ok(Decision::Retry(message)) => self.retry(&message).await,
            Ok(Decision::Install(built)) => self.install(&built, newer).await,
            Err(error) => Err(error),
        };
        outcome.unwrap_or_else(|problem| {
            // What was applied and could not be recorded is applied and recorded by the next pass.
            self.reconciler.managed.forget();
            match problem {
                PassError::Gone => Outcome::Gone,
                PassError::Conflict => Outcome::Conflict,
                problem => {
                    error!(error = explain(&problem), "the pass over the FluxInstance could not be recorded");
                    Outcome::Failed
                }
            }
        })
    }

    pub(super) async fn decide(&self) -> Result<Decision, PassError> {
        if self.instance.metadata.deletion_timestamp.is_some() {
            return Ok(Decision::Uninstall);
        }
        if self.is_disabled() {
            return Ok(Decision::Disable);
        }
        if !self.finalizers().iter().any(|finalizer| finalizer == keys::FINALIZER) {
            return Ok(Decision::AddFinalizer);
        }
        if let Some(field) = unsupported_field(&self.instance) {
            let message = format!("{field} is not supported by this version of the operator: remove it");
            return Ok(Decision::Stall(message));
        }
        Ok(match self.build(self.instance.clone()).await? {
            Ok(built) => Decision::Install(Box::new(built)),
            Err(error) if error.is_transient() => Decision::Retry(explain(&error)),
            Err(error) => Decision::Stall(explain(&error)),
        })
    }

    /// The objects of an instance, or why there are none.
    pub(super) async fn build(
        &self,
        instance: FluxInstance,
    ) -> Result<Result<Build, ManifestsError>, PassError> {
        let namespace = self.reconciler.settings.namespace.clone();
        let storage_path = self.reconciler.settings.storage_path.clone();
        let built = spawn_blocking(move || {
            let distribution = open_distribution(&storage_path)?;
            let built = build(&instance, &namespace, distribution.as_ref())?;
            // The digest takes a while too, so it is computed here, off the threads of the runtime.
            let _ = built.digest();
            Ok(built)
        });
        Ok(built.await?)
    }

    async fn disable(&mut self) -> Result<Outcome, PassError> {
        let status = self.observed.disabled(&self.status());
        self.write(status).await?;
        let message = "Reconciliation is disabled";
        self.tell_news(vec![(Severity::Warning, conditions::RECONCILIATION_DISABLED, message.to_owned())])
            .await;
        Ok(Outcome::Disabled)
    }

    async fn add_finalizer(&mut self) -> Result<Outcome, PassError> {
        let mut finalizers = self.finalizers().to_vec();
        finalizers.push(keys::FINALIZER.to_owned());
        self.change_finalizers(&finalizers).await
    }

    /// Lets the instance go.
    pub(super) async fn remove_finalizer(&mut self) -> Result<Outcome, PassError> {
        let mut finalizers = self.finalizers().to_vec();
        finalizers.retain(|finalizer| finalizer != keys::FINALIZER);
        self.change_finalizers(&finalizers).await.map(|_| Outcome::Gone)
    }

    async fn change_finalizers(&mut self, finalizers: &[String]) -> Result<Outcome, PassError> {
        let changed = set_finalizers(&self.reconciler.instances(), &self.instance, finalizers).await;
        self.take(changed, PassError::Finalizer)?;
        Ok(Outcome::Interrupted)
    }

    /// Ends the pass: nothing but a change of the spec can help.
    pub(super) async fn stall(&mut self, message: &str) -> Result<Outcome, PassError> {
        let spec = serde_json::to_vec(&self.instance.spec).unwrap_or_default();
        let digest = HEXLOWER.encode(&Sha256::digest(spec));
        let attempt = self.attempt(format!("sha256:{digest}"), None);
        let old = self.status();
        let is_news = !self.observed.says(&old, conditions::BUILD_FAILED, message);
        if is_news || !self.observed.is_handled(&old) {
            let status = self.observed.stalled(&old, message, &attempt);
            self.write(status).await?;
        }
        if is_news {
            self.tell_failure(conditions::BUILD_FAILED, message, None).await;
        }
        Ok(Outcome::Stalled)
    }

    async fn retry(&mut self, message: &str) -> Result<Outcome, PassError> {
        let old = self.status();
        let is_news = !self.observed.says(&old, conditions::ARTIFACT_FAILED, message);
        let status = self.observed.failed(&old, conditions::ARTIFACT_FAILED, message, None);
        self.write(status).await?;
        if is_news {
            self.tell_failure(conditions::ARTIFACT_FAILED, message, None).await;
        }
        Ok(Outcome::Failed)
    }

    /// Tells what a user should look at, once for each state.
    pub(super) async fn warn(&self, built: &Build) {
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
        self.tell_news(invalid.chain(warnings).chain(outdated).collect()).await;
    }

    async fn tell_news(&self, news: Vec<(Severity, &'static str, String)>) {
        for (severity, reason, message) in self.reconciler.unreported(news) {
            warn!(reason, "{message}");
            self.tell(severity, reason, &message).await;
        }
    }

    pub(super) fn attempt(&self, digest: String, version: Option<&str>) -> Attempt {
        let seconds = self.started.elapsed().as_secs_f64();
        Attempt { digest, duration: format!("{seconds:.1}s"), version: version.map(str::to_owned) }
    }

    pub(super) fn is_disabled(&self) -> bool {
        let annotations = self.instance.metadata.annotations.as_ref();
        annotations
            .and_then(|annotations| annotations.get(keys::RECONCILE))
            .is_some_and(|value| is_disabled(value))
    }

    pub(super) fn status(&self) -> FluxInstanceStatus {
        self.instance.status.clone().unwrap_or_default()
    }

    fn finalizers(&self) -> &[String] {
        self.instance.metadata.finalizers.as_deref().unwrap_or_default()
    }

    /// Writes the status when it differs from the one that is there.
    pub(super) async fn write(&mut self, status: FluxInstanceStatus) -> Result<(), PassError> {
        if self.instance.status.as_ref() == Some(&status) {
            return Ok(());
        }
        self.told = Instant::now();
        let instances = self.reconciler.instances();
        let mut written = apply_status(&instances, &self.instance, &status).await;
        if written.as_ref().is_err_and(is_conflict) && self.catch_up().await {
            written = apply_status(&instances, &self.instance, &status).await;
        }
        self.take(written, PassError::Status)
    }

    /// Goes on with the metadata that somebody else wrote, such as a label, when the pass is still about the same
    /// instance. Says whether it is.
    async fn catch_up(&mut self) -> bool {
        let live = read(&self.reconciler.instances(), INSTANCE_NAME).await;
        let Ok(Some(live)) = live else { return false };
        self.reconciler.note(&live);
        let is_same =
            Trigger::of(&live) == Trigger::of(&self.instance) && live.status == self.instance.status;
        if is_same {
            self.instance = live;
        }
        is_same
    }

    /// Goes on with the instance as it was changed meanwhile, to say on it that the pass was given up. Not on one
    /// that is another one, is being deleted, or whose status somebody else wrote.
    pub(super) fn follow(&mut self) -> bool {
        let newest = self.reconciler.seen.borrow().clone();
        let Some(newest) = newest.filter(|newest| {
            newest.metadata.uid == self.instance.metadata.uid
                && newest.metadata.deletion_timestamp.is_none()
                && newest.status == self.instance.status
        }) else {
            return false;
        };
        self.instance = *newest;
        true
    }

    /// Goes on with the instance as a write left it.
    fn take(
        &mut self,
        written: Result<Option<FluxInstance>, RequestError>,
        failed: impl FnOnce(RequestError) -> PassError,
    ) -> Result<(), PassError> {
        match written {
            Ok(Some(instance)) => {
                self.reconciler.note(&instance);
                self.instance = instance;
                Ok(())
            }
            Ok(None) => Err(PassError::Gone),
            Err(error) if is_conflict(&error) => Err(PassError::Conflict),
            Err(error) => Err(failed(error)),
        }
    }

    /// Tells people.
    pub(super) async fn tell(&self, severity: Severity, reason: &str, message: &str) {
        let told = Notification { severity, reason, message, metadata: &[] };
        self.reconciler.events.record(&self.instance.object_ref(&()), &told).await;
    }

    /// Tells people of a success, and notification-controller too.
    pub(super) async fn tell_success(&self, message: &str, built: &Build) {
        let (severity, reason) = (Severity::Normal, conditions::RECONCILIATION_SUCCEEDED);
        let metadata = [(REVISION, &*built.revision())];
        let told = Notification { severity, reason, message, metadata: &metadata };
        self.reconciler.alert(&self.instance, &told).await;
    }

    /// Tells people of a failure, and notification-controller too.
    pub(super) async fn tell_failure(&self, reason: &str, message: &str, built: Option<&Build>) {
        error!(reason, "{message}");
        let revision = built.map(Build::revision);
        let metadata: Vec<(&str, &str)> =
            revision.iter().map(|revision| (REVISION, revision.as_str())).collect();
        let told = Notification { severity: Severity::Warning, reason, message, metadata: &metadata };
        self.reconciler.alert(&self.instance, &told).await;
    }
}

fn is_conflict(error: &RequestError) -> bool {
    error.code() == Some(409)
}

/// The first field of the spec that this operator cannot honour yet.
fn unsupported_field(instance: &FluxInstance) -> Option<&'static str> {
    instance.spec.distribution.artifact.is_some().then_some("spec.distribution.artifact")
}

/// Why there is nothing to install.
#[derive(Debug, Error)]
pub(super) enum ManifestsError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl ManifestsError {
    /// The files may be readable later; a spec stays what it is.
    fn is_transient(&self) -> bool {
        match self {
            Self::Folder(_) => true,
            Self::Build(error) => error.is_unreadable(),
        }
    }
}

/// The distribution in the folder, or the embedded one when there is none.
fn open_distribution(storage_path: &Path) -> Result<Box<dyn Distribution>, FolderError> {
    match Folder::open_distribution(storage_path) {
        Ok(folder) => Ok(Box::new(Texts(folder))),
        Err(FolderError::NoReleases { .. }) => Ok(Box::new(Embedded)),
        Err(error) => Err(error),
    }
}
