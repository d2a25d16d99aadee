//! Removing Flux when its instance is deleted, without harm to what Flux manages.
//!
//! A controller that still runs when its custom resources go would delete the workloads that they stand for.
//! So the controllers go first, and nothing else is touched until their pods are gone; then the custom
//! resources lose the finalizer that only those controllers could serve; then everything else goes.

use std::time::Duration;

use crds::{
    ObjectId, conditions,
    status::{Inventory, InventoryEntry},
};
use kube::core::GroupVersionKind;
use operator_cluster::{
    KindError, RequestError,
    delete::{DeleteError, Deletion, delete},
    events::Severity,
    explain,
    finalizers::{FinalizersError, strip},
    wait::{until_gone, until_no_pods},
};
use thiserror::Error;
use tracing::{error, info, warn};

use super::pass::{Outcome, Pass, PassError};

/// The finalizer of Flux's custom resources.
const FLUX_FINALIZER: &str = "finalizers.fluxcd.io";

/// The label of every pod of Flux.
const FLUX_PODS: &str = "app.kubernetes.io/part-of=flux";

/// How long pods and definitions may take to go before the uninstallation is tried anew.
const GONE_TIMEOUT: Duration = Duration::from_mins(5);

/// What stops an uninstallation. It is tried again.
#[derive(Debug, Error)]
enum UninstallError {
    #[error(transparent)]
    Delete(#[from] DeleteError),
    #[error("failed to see whether the controllers have stopped; nothing else was deleted")]
    Pods(#[source] RequestError),
    #[error(
        "these pods of Flux still run after {} s, and nothing else was deleted, because a running controller would delete the workloads that it manages: {}",
        GONE_TIMEOUT.as_secs(),
        .0.join(", ")
    )]
    Running(Vec<String>),
    #[error(transparent)]
    Finalizers(#[from] FinalizersError),
    #[error("failed to see whether the definitions are gone")]
    Kinds(#[from] KindError),
    #[error("these objects are still there after {} s: {}; look at their finalizers", GONE_TIMEOUT.as_secs(), .0.join(", "))]
    Left(Vec<String>),
}

impl Pass<'_> {
    /// Removes what the inventory holds, and lets the instance go when all of it is gone.
    pub(super) async fn uninstall(&mut self) -> Result<Outcome, PassError> {
        let old = self.status();
        let mut inventory = old.inventory.clone().unwrap_or_default();
        if self.is_disabled() || inventory.entries.is_empty() {
            warn!(objects = inventory.entries.len(), "the FluxInstance is deleted and what it manages stays");
            return self.remove_finalizer().await;
        }
        if !self.observed.says(&old, conditions::PROGRESSING, "Uninstalling Flux") {
            info!("uninstalling Flux");
        }
        self.write(self.observed.uninstalling(&old)).await?;
        match self.remove(&mut inventory).await {
            Ok(()) => {
                info!("Flux is uninstalled");
                self.remove_finalizer().await
            }
            Err(problem) => self.report(inventory, &problem).await,
        }
    }

    async fn report(&mut self, inventory: Inventory, problem: &UninstallError) -> Result<Outcome, PassError> {
        let message = format!("Uninstalling Flux is not finished: {}", explain(problem));
        let mut old = self.status();
        let is_news = !self.observed.says(&old, conditions::RECONCILIATION_FAILED, &message);
        old.inventory = Some(inventory);
        self.write(self.observed.failed(&old, conditions::RECONCILIATION_FAILED, &message, None)).await?;
        if is_news {
            error!(reason = conditions::RECONCILIATION_FAILED, "{message}");
            self.tell(Severity::Warning, conditions::RECONCILIATION_FAILED, &message).await;
        }
        Ok(Outcome::Failed)
    }

    async fn remove(&self, inventory: &mut Inventory) -> Result<(), UninstallError> {
        let is_controller = |entry: &InventoryEntry| is_kind(entry, "Deployment");
        self.delete_all(inventory, is_controller).await?;
        self.wait_for_pods().await?;
        let definitions: Vec<InventoryEntry> = inventory
            .entries
            .iter()
            .filter(|entry| is_kind(entry, "CustomResourceDefinition"))
            .cloned()
            .collect();
        for kind in self.reconciler.custom_kinds(&definitions).await? {
            strip(&self.reconciler.kinds, &kind, FLUX_FINALIZER).await?;
        }
        self.delete_all(inventory, |_| true).await?;
        self.wait_for_rest(inventory).await
    }

    /// Deletes the entries of a kind in reverse order; what is gone or not ours is forgotten.
    async fn delete_all(
        &self,
        inventory: &mut Inventory,
        is_wanted: impl Fn(&InventoryEntry) -> bool,
    ) -> Result<(), UninstallError> {
        let wanted: Vec<InventoryEntry> =
            inventory.entries.iter().rev().filter(|entry| is_wanted(entry)).cloned().collect();
        for entry in wanted {
            if let Some(id) = ObjectId::parse(&entry) {
                self.reconciler.managed.note_leaving(&id);
            }
            match delete(&self.reconciler.kinds, &entry, self.owner()).await? {
                Deletion::Gone | Deletion::Kept => inventory.entries.retain(|known| known.id != entry.id),
                Deletion::Terminating => {}
            }
        }
        Ok(())
    }

    async fn wait_for_pods(&self) -> Result<(), UninstallError> {
        let (client, namespace) = (self.reconciler.kinds.client(), &self.reconciler.settings.namespace);
        let left = until_no_pods(client, namespace, FLUX_PODS, GONE_TIMEOUT).await;
        let left = left.map_err(UninstallError::Pods)?;
        if left.is_empty() { Ok(()) } else { Err(UninstallError::Running(left)) }
    }

    async fn wait_for_rest(&self, inventory: &mut Inventory) -> Result<(), UninstallError> {
        let left = until_gone(&self.reconciler.kinds, &inventory.entries, GONE_TIMEOUT).await?;
        let ids: Vec<String> = left.iter().map(ObjectId::entry_id).collect();
        inventory.entries.retain(|entry| ids.contains(&entry.id));
        if left.is_empty() {
            return Ok(());
        }
        Err(UninstallError::Left(left.iter().map(ToString::to_string).collect()))
    }
}

fn is_kind(entry: &InventoryEntry, kind: &str) -> bool {
    ObjectId::parse(entry).is_some_and(|id| id.kind == kind)
}

/// The kinds that definitions of an inventory define, as far as the cluster has them.
impl super::FluxInstanceReconciler {
    async fn custom_kinds(
        &self,
        definitions: &[InventoryEntry],
    ) -> Result<Vec<GroupVersionKind>, UninstallError> {
        let mut kinds = Vec::new();
        for definition in definitions {
            let Some(id) = ObjectId::parse(definition) else { continue };
            kinds.extend(self.kinds.defined_by(&id.name).await?);
        }
        Ok(kinds)
    }
}
