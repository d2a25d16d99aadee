//! Telling what came of an installation.

use crds::{FluxInstanceStatus, ObjectId, conditions};
use operator_cluster::{events::Severity, explain};
use tracing::info;

use super::{InstallError, Work};
use crate::{
    conditions::find,
    flux_instance::{
        now,
        pass::{Outcome, Pass, PassError},
    },
};

impl Pass<'_> {
    pub(super) async fn succeed(&mut self, work: Work<'_>, is_changed: bool) -> Result<Outcome, PassError> {
        let is_leaving = work.inventory.entries.len() > work.built.objects.len();
        let outcome = if is_leaving { Outcome::Leaving } else { Outcome::Ready };
        let attempt =
            self.attempt(format!("sha256:{}", work.built.digest()), Some(work.built.version.original()));
        self.observed.now = now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        let is_full = work.pending.len() == work.built.objects.len();
        if is_full {
            self.reconciler.note_full_pass();
        }
        let left_alone = work.report.left_alone(&work.built.version);
        if !is_full && !is_changed {
            self.tell_repair(&work).await;
        } else {
            self.tell_changes(&work, &old).await;
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

    /// Tells which objects were put back as they should be.
    async fn tell_repair(&self, work: &Work<'_>) {
        let repaired = work.pending.iter().filter(|object| !work.report.leaves(object));
        let names: Vec<String> = repaired.map(|object| ObjectId::of(object).to_string()).collect();
        self.reconciler.changes().take();
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
        let message = explain(problem);
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

    pub(super) async fn interrupt(&mut self, work: &Work<'_>) -> Result<Outcome, PassError> {
        let message = "The pass was given up because the FluxInstance changed";
        // What was applied last may not be recorded with its uid.
        self.reconciler.managed.forget();
        self.observed.now = now();
        let mut old = self.status();
        old.inventory = Some(work.inventory.clone());
        let status = self.observed.failed(&old, conditions::HEALTH_CHECK_CANCELED, message, None);
        self.write(status).await?;
        info!("{message}");
        self.tell(Severity::Normal, conditions::HEALTH_CHECK_CANCELED, message).await;
        Ok(Outcome::Interrupted)
    }
}

/// What the last success said of definitions.
fn tail(status: &FluxInstanceStatus) -> &str {
    let message = find(&status.conditions, conditions::READY).map(|ready| ready.message.as_str());
    message.and_then(|message| message.find(';').and_then(|start| message.get(start..))).unwrap_or_default()
}
