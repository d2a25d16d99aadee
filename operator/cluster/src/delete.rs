//! Deleting what is ours, and nothing else.

use crds::{
    ObjectId,
    keys::{OWNER_NAME, OWNER_NAMESPACE, PRUNE, is_disabled},
    status::InventoryEntry,
};
use kube::{
    Api,
    api::{DeleteParams, Preconditions, PropagationPolicy},
    core::{DynamicObject, PartialObjectMeta},
};
use thiserror::Error;

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
};

/// How often a deletion is tried again that lost against another write.
const CONFLICT_RETRIES: usize = 5;

/// The instance that objects belong to.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// Name of the instance.
    pub name: &'a str,
    /// Namespace of the instance.
    pub namespace: &'a str,
}

/// What became of an object that is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It was not there any more.
    Absent,
    /// It was deleted, and is gone.
    Deleted,
    /// It was deleted, and finalizers hold it.
    Held,
    /// Somebody had deleted it before, and finalizers hold it.
    Terminating,
    /// It stays, because it belongs to somebody else now.
    Foreign,
    /// It stays, because its annotation says so.
    Protected,
}

/// An object that could not be deleted.
#[derive(Debug, Error)]
#[error("failed to delete {object}")]
pub struct DeleteError {
    /// The object.
    pub object: ObjectId,
    /// What stood in the way.
    pub source: DeleteProblem,
}

/// What stands in the way of a deletion.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum DeleteProblem {
    #[error(transparent)]
    Kind(#[from] KindError),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Deletes the object of an inventory entry, with all that belongs to it.
///
/// The object is read first: one without our owner labels, with another uid, or with pruning disabled stays.
/// An entry that is no object id is forgotten.
///
/// # Errors
/// When the API server refuses, or cannot be asked. The object may still be there.
pub async fn delete(
    kinds: &Kinds,
    entry: &InventoryEntry,
    owner: Owner<'_>,
) -> Result<Deletion, DeleteError> {
    let Some(object) = ObjectId::parse(entry) else { return Ok(Deletion::Foreign) };
    let outcome = delete_object(kinds, &object, entry, owner).await;
    outcome.map_err(|source| DeleteError { object, source })
}

async fn delete_object(
    kinds: &Kinds,
    id: &ObjectId,
    entry: &InventoryEntry,
    owner: Owner<'_>,
) -> Result<Deletion, DeleteProblem> {
    let api = match kinds.api_of(id, &entry.v).await {
        Ok(api) => api,
        // With the definition of a kind, its objects went.
        Err(KindError::Unknown { .. }) => return Ok(Deletion::Absent),
        Err(error) => return Err(error.into()),
    };
    let mut tries = 0;
    loop {
        let live = repeated(|| api.get_metadata_opt(&id.name)).await?;
        let Some(live) = live else { return Ok(Deletion::Absent) };
        if !is_ours(&live, entry, owner) {
            return Ok(Deletion::Foreign);
        }
        if is_protected(&live) {
            return Ok(Deletion::Protected);
        }
        if live.metadata.deletion_timestamp.is_some() {
            return Ok(Deletion::Terminating);
        }
        tries += 1;
        match request_deletion(&api, id, &live).await {
            // It changed, or is another one, since it was read.
            Err(DeleteProblem::Request(error)) if error.code() == Some(409) && tries < CONFLICT_RETRIES => {}
            outcome => return outcome,
        }
    }
}

async fn request_deletion(
    api: &Api<DynamicObject>,
    id: &ObjectId,
    live: &PartialObjectMeta<DynamicObject>,
) -> Result<Deletion, DeleteProblem> {
    let parameters = DeleteParams {
        propagation_policy: Some(propagation(&id.kind)),
        preconditions: Some(Preconditions { uid: live.metadata.uid.clone(), resource_version: None }),
        ..DeleteParams::default()
    };
    match repeated(|| api.delete(&id.name, &parameters)).await {
        Ok(answer) => {
            let is_held = answer.left().is_some_and(|object| {
                object.metadata.finalizers.is_some_and(|finalizers| !finalizers.is_empty())
            });
            Ok(if is_held { Deletion::Held } else { Deletion::Deleted })
        }
        Err(RequestError::Refused(status)) if status.code == 404 => Ok(Deletion::Deleted),
        Err(error) => Err(error.into()),
    }
}

fn is_ours(live: &PartialObjectMeta<DynamicObject>, entry: &InventoryEntry, owner: Owner<'_>) -> bool {
    let label =
        |key: &str| live.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
    let has_labels = label(OWNER_NAME) == Some(owner.name) && label(OWNER_NAMESPACE) == Some(owner.namespace);
    let has_uid = entry.uid.is_none() || entry.uid == live.metadata.uid;
    has_labels && has_uid
}

fn is_protected(live: &PartialObjectMeta<DynamicObject>) -> bool {
    let prune = live.metadata.annotations.as_ref().and_then(|annotations| annotations.get(PRUNE));
    prune.is_some_and(|prune| is_disabled(prune))
}

/// A Deployment stays until its pods are gone, so that no ReplicaSet starts another one behind it.
fn propagation(kind: &str) -> PropagationPolicy {
    match kind {
        "Deployment" => PropagationPolicy::Foreground,
        _ => PropagationPolicy::Background,
    }
}
