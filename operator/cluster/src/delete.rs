//! Deleting what is ours, and nothing else.

use crds::{
    ObjectId,
    keys::{OWNER_NAME, OWNER_NAMESPACE, PRUNE, is_disabled},
    status::InventoryEntry,
};
use kube::{
    Api,
    api::{DeleteParams, Preconditions, PropagationPolicy},
    core::{DynamicObject, PartialObjectMeta, Status},
};
use thiserror::Error;

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
};

/// How often a deletion is tried again that lost against another write.
const CONFLICT_RETRIES: usize = 5;

/// How often a kind is looked up when the version that was known is not served.
const LOOKS: usize = 3;

/// What is read of an object before it is deleted.
type Live = PartialObjectMeta<DynamicObject>;

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

/// What a deletion would find now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not there any more.
    Absent,
    /// It can be deleted.
    Ours,
    /// Somebody deleted it, and finalizers hold it.
    Terminating,
    /// It would stay, because it belongs to somebody else now.
    Foreign,
    /// It would stay, because its annotation says so.
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

/// Looks whether the object of an inventory entry would be deleted, and changes nothing.
///
/// # Errors
/// When the API server refuses, or cannot be asked.
pub async fn look(kinds: &Kinds, entry: &InventoryEntry, owner: Owner<'_>) -> Result<Standing, DeleteError> {
    let Some(object) = ObjectId::parse(entry) else { return Ok(Standing::Foreign) };
    match find(kinds, &object, &entry.v).await {
        Ok(None) => Ok(Standing::Absent),
        Ok(Some((_, live))) => Ok(standing(&live, entry, owner)),
        Err(source) => Err(DeleteError { object, source }),
    }
}

async fn delete_object(
    kinds: &Kinds,
    id: &ObjectId,
    entry: &InventoryEntry,
    owner: Owner<'_>,
) -> Result<Deletion, DeleteProblem> {
    let mut tries = 0;
    loop {
        let Some((api, live)) = find(kinds, id, &entry.v).await? else { return Ok(Deletion::Absent) };
        match standing(&live, entry, owner) {
            Standing::Absent => return Ok(Deletion::Absent),
            Standing::Foreign => return Ok(Deletion::Foreign),
            Standing::Protected => return Ok(Deletion::Protected),
            Standing::Terminating => return Ok(Deletion::Terminating),
            Standing::Ours => {}
        }
        tries += 1;
        match request_deletion(&api, id, &live).await {
            // It changed, or is another one, since it was read.
            Err(DeleteProblem::Request(error)) if error.code() == Some(409) && tries < CONFLICT_RETRIES => {}
            outcome => return outcome,
        }
    }
}

/// The object, and the API that serves it; none when it is gone, also with the definition of its kind.
async fn find(
    kinds: &Kinds,
    id: &ObjectId,
    version: &str,
) -> Result<Option<(Api<DynamicObject>, Live)>, DeleteProblem> {
    let mut looks = 0;
    loop {
        let Some(api) = kinds.find_api(id, version).await? else { return Ok(None) };
        looks += 1;
        match repeated(|| api.get_metadata(&id.name)).await {
            Ok(live) => return Ok(Some((api, live))),
            Err(RequestError::Refused(status)) if names(&status, id) => return Ok(None),
            // It is the version that is not found: it went since the kind was looked up.
            Err(error) if error.code() == Some(404) && looks < LOOKS => kinds.forget(&id.group, &id.kind),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the API server says that an object of this name is not there. Of a version that is not served, it says
/// nothing of objects.
fn names(status: &Status, id: &ObjectId) -> bool {
    status.code == 404 && status.details.as_ref().is_some_and(|details| details.name == id.name)
}

async fn request_deletion(
    api: &Api<DynamicObject>,
    id: &ObjectId,
    live: &Live,
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

fn standing(live: &Live, entry: &InventoryEntry, owner: Owner<'_>) -> Standing {
    if !is_ours(live, entry, owner) {
        Standing::Foreign
    } else if is_protected(live) {
        Standing::Protected
    } else if live.metadata.deletion_timestamp.is_some() {
        Standing::Terminating
    } else {
        Standing::Ours
    }
}

fn is_ours(live: &Live, entry: &InventoryEntry, owner: Owner<'_>) -> bool {
    let label =
        |key: &str| live.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
    let has_labels = label(OWNER_NAME) == Some(owner.name) && label(OWNER_NAMESPACE) == Some(owner.namespace);
    let has_uid = entry.uid.is_none() || entry.uid == live.metadata.uid;
    has_labels && has_uid
}

fn is_protected(live: &Live) -> bool {
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

#[cfg(test)]
mod tests;
