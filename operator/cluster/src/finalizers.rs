//! Taking finalizers off custom resources whose controllers are gone.

use std::pin::pin;

use futures::TryStreamExt as _;
use kube::{
    Api,
    api::{ListParams, Patch},
    core::{DynamicObject, GroupVersionKind, PartialObjectMeta},
};
use serde_json::json;
use thiserror::Error;

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
    managed_fields,
    pages::pages,
};

/// A kind whose objects keep their finalizers.
#[derive(Debug, Error)]
#[error("failed to remove finalizers from objects of kind {kind}")]
pub struct FinalizersError {
    /// The kind.
    pub kind: String,
    /// What stood in the way.
    pub source: FinalizersProblem,
}

/// What stands in the way.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum FinalizersProblem {
    #[error(transparent)]
    Kind(#[from] KindError),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Takes one finalizer off every object of a kind, in all namespaces, and leaves other finalizers alone.
/// A kind that the cluster does not know has no objects.
///
/// # Errors
/// At the first object that cannot be changed; the others of its page may have been.
pub async fn strip(kinds: &Kinds, kind: &GroupVersionKind, finalizer: &str) -> Result<(), FinalizersError> {
    let stripped = strip_all(kinds, kind, finalizer).await;
    stripped.map_err(|source| FinalizersError { kind: kind.kind.clone(), source })
}

async fn strip_all(kinds: &Kinds, kind: &GroupVersionKind, finalizer: &str) -> Result<(), FinalizersProblem> {
    let api = match kinds.all(kind).await {
        Ok(api) => api,
        Err(KindError::Unknown { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let mut pages = pin!(pages(&api, ListParams::default()));
    while let Some(page) = pages.try_next().await? {
        for object in &page {
            strip_one(kinds, kind, object, finalizer).await?;
        }
    }
    Ok(())
}

async fn strip_one(
    kinds: &Kinds,
    kind: &GroupVersionKind,
    object: &PartialObjectMeta<DynamicObject>,
    finalizer: &str,
) -> Result<(), FinalizersProblem> {
    let metadata = &object.metadata;
    let held = metadata.finalizers.as_deref().unwrap_or_default();
    if !held.iter().any(|held| held == finalizer) {
        return Ok(());
    }
    let left: Vec<&String> = held.iter().filter(|held| *held != finalizer).collect();
    let patch = json!({"metadata": {"finalizers": left, "uid": metadata.uid}});
    let api: Api<DynamicObject> = kinds.in_namespace(kind, metadata.namespace.as_deref()).await?;
    let name = metadata.name.as_deref().unwrap_or_default();
    let parameters = managed_fields::change();
    let merge = Patch::Merge(&patch);
    match repeated(|| api.patch_metadata(name, &parameters, &merge)).await {
        Ok(_) => Ok(()),
        Err(RequestError::Refused(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
