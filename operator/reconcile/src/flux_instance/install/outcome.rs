//! Telling what came of an installation.

use crds::{FluxInstanceStatus, ObjectId, conditions, status::MAX_MESSAGE_BYTES};
use operator_cluster::{
    events::{Severity, shorten},
    explain,
};
use serde_json::Value;
use tracing::{info, warn};

use super::{InstallError, Occasion, Work};
use crate::{
    conditions::find,
    flux_instance::{
        now,
        pass::{Outcome, Pass, PassError},
    },
};

impl Pass<'_> {
    pub(super) async fn succeed(&mut self, work: Work<'_>, occasion: Occasion) -> Result<Outcome, PassError> {
        let is_leaving = work.inventory.entries.len() > work.built.objects.len();
        let outcome = if is_leaving { Outcome::Leaving } else { Outcome::Ready };
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        self.tell_done(&work, occasion, &old).await;
        let left_alone = work.report.left_alone(&work.built.version);
        if occasion == Occasion::Settled && says_success(&old, &left_alone) {
            self.write(old).await?;
            return Ok(outcome);
        }
        self.tell_newer(&work.report, &work.built.version).await;
        if work.report.is_complete()
            && let Some(force) = self.force_request()
        {
            old.last_handled_force_at = Some(force);
        }
        let message = success(&attempt.duration, &left_alone);
        let status = self.observed.ready(&old, work.built, &message, &attempt);
        self.write(status).await?;
        info!(revision = work.built.revision(), duration = attempt.duration, "the FluxInstance is ready");
        self.tell(Severity::Normal, conditions::RECONCILIATION_SUCCEEDED, &message).await;
        Ok(outcome)
    }

    /// Tells what a pass has done to the objects.
    async fn tell_done(&self, work: &Work<'_>, occasion: Occasion, old: &FluxInstanceStatus) {
        let is_full = work.pending.len() == work.built.objects.len();
        if is_full {
            self.reconciler.note_full_pass();
            self.tell_missing_secrets().await;
        }
        if occasion == Occasion::Settled && !is_full {
            self.tell_repair(work, &work.pending).await;
            self.reconciler.changes().take();
        } else {
            self.tell_changes(work, old).await;
        }
        self.tell_rewritten(&work.report).await;
    }

    /// Tells which Secrets the sync lacks, where nothing waits for it.
    async fn tell_missing_secrets(&self) {
        if let Some(missing) = self.missing_secrets().await {
            warn!(reason = conditions::SECRET_MISSING, "{missing}");
            self.tell(Severity::Warning, conditions::SECRET_MISSING, &missing).await;
        }
    }

    /// Tells which objects were put back as they should be.
    pub(super) async fn tell_repair(&self, work: &Work<'_>, repaired: &[&Value]) {
        let repaired = repaired.iter().filter(|object| !work.report.leaves(object));
        let names: Vec<String> = repaired.map(|object| ObjectId::of(object).to_string()).collect();
        if names.is_empty() {
            return;
        }
        let message = format!("Corrected drift in {}", names.join(", "));
        info!("{message}");
        self.tell_success(&message, work.built).await;
    }

    /// Tells what was changed since the last success.
    async fn tell_changes(&self, work: &Work<'_>, old: &FluxInstanceStatus) {
        let Some(changes) = self.reconciler.changes().take() else { return };
        let verb = if old.last_applied_revision.is_some() { "updated" } else { "installed" };
        let message = format!("Flux {} {verb}\n{changes}", work.built.version.original());
        self.tell_success(&message, work.built).await;
    }

    pub(super) async fn fail(
        &mut self,
        work: &Work<'_>,
        problem: &InstallError,
    ) -> Result<Outcome, PassError> {
        let mut message = explain(problem);
        if matches!(problem, InstallError::Wait(_)) {
            message = self.with_missing_secrets(message).await;
        }
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = now();
        let mut old = self.status();
        let is_news = !self.observed.says(&old, conditions::RECONCILIATION_FAILED, &message);
        old.inventory = Some(work.inventory.clone());
        let status = self.observed.failed(&old, conditions::RECONCILIATION_FAILED, &message, Some(&attempt));
        self.write(status).await?;
        if is_news {
            self.tell_failure(conditions::RECONCILIATION_FAILED, &message, Some(work.built)).await;
        }
        Ok(Outcome::Failed)
    }

    /// Says that the pass was given up, on the instance as it is now. What was applied is recorded; the next pass
    /// goes on from there.
    pub(super) async fn interrupt(&mut self, work: &Work<'_>) -> Result<Outcome, PassError> {
        let message = "The pass was given up because the FluxInstance changed";
        if !self.follow() {
            // What was applied last may not be recorded with its uid.
            self.reconciler.managed.forget();
            return Ok(Outcome::Interrupted);
        }
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        let reason = conditions::HEALTH_CHECK_CANCELED;
        let status = self.observed.failed(&old, reason, message, Some(&attempt));
        self.write(status).await?;
        info!("{message}");
        self.tell(Severity::Normal, conditions::HEALTH_CHECK_CANCELED, message).await;
        Ok(Outcome::Interrupted)
    }
}

/// The message of a success.
fn success(duration: &str, left_alone: &str) -> String {
    format!("Reconciliation finished in {duration}{left_alone}")
}

/// Whether the last success said the same of definitions that were left as they are.
fn says_success(status: &FluxInstanceStatus, left_alone: &str) -> bool {
    let Some(last) = status.history.first() else { return false };
    let expected = shorten(&success(&last.last_reconciled_duration, left_alone), MAX_MESSAGE_BYTES);
    find(&status.conditions, conditions::READY).is_some_and(|ready| ready.message == expected)
}
