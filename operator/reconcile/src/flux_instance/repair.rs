//! Putting right what drifted after a pass that failed, or while the spec cannot be built.

use std::future::Future;

use manifests::flux_instance::Build;
use operator_cluster::{explain, inventory::intent};
use tracing::warn;

use super::{
    pass::{Decision, Pass, PassError},
    size::excess,
};

impl Pass<'_> {
    /// Puts right what drifted, and nothing else: the last pass failed, and its words stay.
    pub(super) async fn put_right(mut self, newer: impl Future<Output = ()>) {
        let done = match self.applied_build().await {
            Ok(Some(built)) => {
                tokio::select! {
                    done = self.repair(&built) => done,
                    () = newer => Ok(()),
                }
            }
            // Nothing is kept as it was applied.
            Ok(None) => {
                self.reconciler.give_up_drift();
                Ok(())
            }
            Err(error) => Err(error),
        };
        if let Err(problem) = done {
            self.reconciler.give_up_drift();
            warn_of_drift(&problem);
        }
    }

    /// What is kept as it was applied: the build of the spec, or the last one that was applied where the spec
    /// cannot be built.
    async fn applied_build(&self) -> Result<Option<Box<Build>>, PassError> {
        match self.decide().await? {
            Decision::Install(built) if self.has_room(&built) => Ok(Some(built)),
            Decision::Install(_) | Decision::Stall(_) | Decision::Retry(_) => self.last_build().await,
            Decision::Disable | Decision::Uninstall | Decision::AddFinalizer => Ok(None),
        }
    }

    fn has_room(&self, built: &Build) -> bool {
        let old = self.status();
        let recorded = old.inventory.clone().unwrap_or_default();
        excess(&old, &intent(&recorded, &built.objects)).is_none()
    }

    /// The build that was applied last, built again; none when it is not known, or would be another one now.
    async fn last_build(&self) -> Result<Option<Box<Build>>, PassError> {
        let Some(applied) = self.reconciler.applied().clone() else { return Ok(None) };
        let built = self.build(applied.instance).await?;
        Ok(built.ok().filter(|built| built.revision() == applied.revision).map(Box::new))
    }
}

/// Says that something is not yet as it should be: it is tried again.
pub(super) fn warn_of_drift(problem: &(dyn std::error::Error + 'static)) {
    warn!(error = explain(problem), "drift could not be put right yet");
}
