//! Removing Flux when its instance is deleted, without harm to what Flux manages.

use std::future::Future;

use crds::{ObjectId, conditions, status::Inventory};
use operator_cluster::{explain, gone::until_gone, wait::Pending};
use thiserror::Error;
use tracing::{info, warn};

use super::{
    pass::{Outcome, Pass, PassError},
    removal::{GONE_TIMEOUT, RemovalError},
};

/// What stops an uninstallation. It is tried again.
#[derive(Debug, Error)]
enum UninstallError {
    #[error(transparent)]
    Removal(#[from] RemovalError),
    #[error(
        "these objects are still there after {} s: {}; look at their finalizers",
        GONE_TIMEOUT.as_secs(),
        .0.join(", ")
    )]
    Left(Vec<String>),
}

impl Pass<'_> {
    /// Removes what the inventory holds, and lets the instance go when all of it is gone. `newer` ends when
    /// the instance changed: somebody may have paused it, or taken our finalizer off it.
    pub(super) async fn uninstall(&mut self, newer: impl Future<Output = ()>) -> Result<Outcome, PassError> {
        let old = self.status();
        let mut inventory = old.inventory.clone().unwrap_or_default();
        if self.is_disabled() || inventory.entries.is_empty() {
            warn!(objects = inventory.entries.len(), "the FluxInstance is deleted and what it manages stays");
            return self.remove_finalizer().await;
        }
        info!(objects = inventory.entries.len(), "uninstalling Flux");
        let status = self.observed.uninstalling(&old);
        self.write(status).await?;
        let done = tokio::select! {
            done = self.remove_everything(&mut inventory) => done,
            () = newer => return Ok(Outcome::Interrupted),
        };
        match done {
            Ok(()) => {
                info!("Flux is uninstalled");
                self.remove_finalizer().await
            }
            Err(problem) => self.report(inventory, &problem).await,
        }
    }

    async fn remove_everything(&mut self, inventory: &mut Inventory) -> Result<(), UninstallError> {
        let all = inventory.entries.clone();
        self.remove(inventory, &all).await?;
        let (kinds, pending) = (&self.reconciler.kinds, Pending::default());
        let gone = until_gone(kinds, &inventory.entries, GONE_TIMEOUT, &pending);
        let left = self.telling(&pending, gone).await.map_err(RemovalError::Kinds)?;
        let ids: Vec<String> = left.iter().map(ObjectId::entry_id).collect();
        inventory.entries.retain(|entry| ids.contains(&entry.id));
        if left.is_empty() {
            return Ok(());
        }
        Err(UninstallError::Left(left.iter().map(ToString::to_string).collect()))
    }

    async fn report(&mut self, inventory: Inventory, problem: &UninstallError) -> Result<Outcome, PassError> {
        let message = format!("{}: {}", conditions::UNINSTALLATION_UNFINISHED, explain(problem));
        let mut old = self.status();
        let is_news = !self.observed.says(&old, conditions::RECONCILIATION_FAILED, &message);
        old.inventory = Some(inventory);
        self.observed.now = super::now();
        let status = self.observed.failed(&old, conditions::RECONCILIATION_FAILED, &message, None);
        self.write(status).await?;
        if is_news {
            self.tell_failure(conditions::RECONCILIATION_FAILED, &message, None).await;
        }
        Ok(Outcome::Failed)
    }
}
