//! Deleting recorded objects in an order that does no harm to what Flux manages.
//!
//! A controller that still runs when its custom resources go would delete the workloads that they stand for.
//! So where definitions are to go, the controllers go first, and nothing else is touched until their pods are
//! gone; then the custom resources lose the finalizer that only those controllers could serve; then everything
//! else goes, in reverse order of its creation.

use std::time::Duration;

use crds::{
    ObjectId,
    status::{Inventory, InventoryEntry},
};
use operator_cluster::{
    KindError, RequestError,
    delete::{DeleteError, Deletion, Standing, delete, look},
    finalizers::{FinalizersError, strip},
    gone::{Pods, until_gone, until_no_pods},
    wait::Pending,
};
use thiserror::Error;
use tracing::{info, warn};

use super::{changes::Action, install::sentences, pass::Pass};

/// The finalizer of Flux's custom resources.
const FLUX_FINALIZER: &str = "finalizers.fluxcd.io";

/// How long pods and definitions may take to go before the removal is tried anew.
pub(super) const GONE_TIMEOUT: Duration = Duration::from_mins(5);

/// What stops a removal. It is tried again.
#[derive(Debug, Error)]
pub(super) enum RemovalError {
    #[error("{}", sentences(.0))]
    Delete(Vec<DeleteError>),
    #[error("failed to see whether the controllers have stopped; none of their custom resources was touched")]
    Pods(#[source] RequestError),
    #[error(
        "these pods of Flux still run after {} s, and none of their custom resources was touched, because a running controller would delete the workloads that it manages: {}",
        GONE_TIMEOUT.as_secs(),
        .0.join(", ")
    )]
    Running(Vec<String>),
    #[error("failed to see what may be deleted; nothing was")]
    Look(#[source] DeleteError),
    #[error(
        "{} must stop before the custom resources of Flux go, and is not the operator's any more: its owner labels or its uid are others; delete it, or pause the instance with fluxcd.controlplane.io/reconcile: disabled to leave Flux in place",
        .0.join(", ")
    )]
    Foreign(Vec<String>),
    #[error(
        "{} must stop before its custom resources go, and is protected by the annotation fluxcd.controlplane.io/prune: disabled; remove the annotation, or pause the instance with fluxcd.controlplane.io/reconcile: disabled to leave Flux in place",
        .0.join(", ")
    )]
    Protected(Vec<String>),
    #[error(transparent)]
    Finalizers(#[from] FinalizersError),
    #[error("failed to see what is gone")]
    Kinds(#[from] KindError),
}

impl Pass<'_> {
    /// Deletes recorded objects, given in the order of their creation. What is gone or not ours is forgotten;
    /// what finalizers hold stays recorded.
    pub(super) async fn remove(
        &mut self,
        inventory: &mut Inventory,
        wanted: &[InventoryEntry],
    ) -> Result<(), RemovalError> {
        let definitions = self.leaving(&of_kind(wanted, "CustomResourceDefinition")).await?;
        if !definitions.is_empty() {
            self.stop(inventory, &of_kind(wanted, "Deployment")).await?;
            for definition in definitions.iter().filter_map(ObjectId::parse) {
                if let Some(kind) = self.reconciler.kinds.defined_by(&definition.name).await? {
                    strip(&self.reconciler.kinds, &kind, FLUX_FINALIZER).await?;
                }
            }
        }
        self.delete_all(inventory, wanted).await
    }

    /// Those of some objects that a deletion would take. The custom resources of a definition that stays keep
    /// their finalizers.
    async fn leaving(&self, entries: &[InventoryEntry]) -> Result<Vec<InventoryEntry>, RemovalError> {
        let mut leaving = Vec::new();
        for entry in entries {
            if matches!(self.look(entry).await?, Standing::Ours | Standing::Terminating) {
                leaving.push(entry.clone());
            }
        }
        Ok(leaving)
    }

    /// Deletes controllers and waits until their pods are gone. They stay recorded until then, so that the
    /// next try knows whose pods to wait for. When one of them is to stay, nothing is deleted.
    async fn stop(
        &mut self,
        inventory: &mut Inventory,
        controllers: &[InventoryEntry],
    ) -> Result<(), RemovalError> {
        let stopping: Vec<InventoryEntry> =
            inventory.entries.iter().filter(|entry| controllers.contains(entry)).cloned().collect();
        let mut staying = Staying::default();
        for entry in &stopping {
            staying.note(entry, self.look(entry).await?);
        }
        staying.check()?;
        let mut failures = Vec::new();
        for entry in &stopping {
            match self.delete_one(entry).await {
                Ok(Deletion::Absent | Deletion::Deleted | Deletion::Held | Deletion::Terminating) => {}
                Ok(Deletion::Foreign) => staying.note(entry, Standing::Foreign),
                Ok(Deletion::Protected) => staying.note(entry, Standing::Protected),
                Err(failure) => failures.push(failure),
            }
        }
        if !failures.is_empty() {
            return Err(RemovalError::Delete(failures));
        }
        staying.check()?;
        self.until_stopped(&stopping).await?;
        inventory.entries.retain(|entry| !stopping.contains(entry));
        Ok(())
    }

    /// Waits until Deployments that were deleted are gone, and their pods.
    async fn until_stopped(&mut self, stopping: &[InventoryEntry]) -> Result<(), RemovalError> {
        let (kinds, pending) = (&self.reconciler.kinds, Pending::default());
        let gone = until_gone(kinds, stopping, GONE_TIMEOUT, &pending);
        let left = self.telling(&pending, gone).await?;
        if !left.is_empty() {
            return Err(RemovalError::Running(left.iter().map(ToString::to_string).collect()));
        }
        let names: Vec<String> = stopping.iter().filter_map(ObjectId::parse).map(|id| id.name).collect();
        if names.is_empty() {
            return Ok(());
        }
        let pods = Pods {
            namespace: &self.reconciler.settings.namespace,
            selector: &format!("app.kubernetes.io/part-of=flux,app in ({})", names.join(",")),
        };
        let gone = until_no_pods(kinds.client(), pods, GONE_TIMEOUT, &pending);
        let left = self.telling(&pending, gone).await.map_err(RemovalError::Pods)?;
        if left.is_empty() { Ok(()) } else { Err(RemovalError::Running(left)) }
    }

    async fn look(&self, entry: &InventoryEntry) -> Result<Standing, RemovalError> {
        let standing = look(&self.reconciler.kinds, entry, self.owner()).await;
        standing.map_err(RemovalError::Look)
    }

    /// Deletes objects in reverse order. All are tried, also when one is refused.
    async fn delete_all(
        &self,
        inventory: &mut Inventory,
        wanted: &[InventoryEntry],
    ) -> Result<(), RemovalError> {
        let mut failures = Vec::new();
        for entry in wanted.iter().rev() {
            if !inventory.entries.contains(entry) {
                continue;
            }
            match self.delete_one(entry).await {
                Ok(Deletion::Held | Deletion::Terminating) => {}
                Ok(Deletion::Absent | Deletion::Deleted | Deletion::Foreign | Deletion::Protected) => {
                    inventory.entries.retain(|known| known != entry);
                }
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(RemovalError::Delete(failures)) }
    }

    async fn delete_one(&self, entry: &InventoryEntry) -> Result<Deletion, DeleteError> {
        let id = ObjectId::parse(entry);
        if let Some(id) = &id {
            self.reconciler.managed.note_leaving(id);
        }
        let deletion = delete(&self.reconciler.kinds, entry, self.owner()).await?;
        let object = display(entry);
        match deletion {
            Deletion::Absent => info!(object, "gone"),
            Deletion::Deleted => info!(object, "deleted"),
            Deletion::Held => info!(object, "deleted, and held by finalizers"),
            Deletion::Terminating => info!(object, "being deleted"),
            Deletion::Foreign => warn!(object, "not deleted: it belongs to somebody else now"),
            Deletion::Protected => {
                warn!(object, "not deleted: fluxcd.controlplane.io/prune is disabled on it");
            }
        }
        if let (Deletion::Deleted | Deletion::Held, Some(id)) = (deletion, id) {
            self.reconciler.changes().note(id, Action::Deleted);
        }
        Ok(deletion)
    }
}

/// The controllers that would still run when their custom resources went.
#[derive(Debug, Default)]
struct Staying {
    foreign: Vec<String>,
    protected: Vec<String>,
}

impl Staying {
    fn note(&mut self, entry: &InventoryEntry, standing: Standing) {
        match standing {
            Standing::Foreign => self.foreign.push(display(entry)),
            Standing::Protected => self.protected.push(display(entry)),
            Standing::Absent | Standing::Ours | Standing::Terminating => {}
        }
    }

    fn check(&mut self) -> Result<(), RemovalError> {
        if !self.foreign.is_empty() {
            return Err(RemovalError::Foreign(std::mem::take(&mut self.foreign)));
        }
        if !self.protected.is_empty() {
            return Err(RemovalError::Protected(std::mem::take(&mut self.protected)));
        }
        Ok(())
    }
}

fn of_kind(entries: &[InventoryEntry], kind: &str) -> Vec<InventoryEntry> {
    let is_of_kind = |entry: &&InventoryEntry| ObjectId::parse(entry).is_some_and(|id| id.kind == kind);
    entries.iter().filter(is_of_kind).cloned().collect()
}

fn display(entry: &InventoryEntry) -> String {
    ObjectId::parse(entry).map_or_else(|| entry.id.clone(), |id| id.to_string())
}
