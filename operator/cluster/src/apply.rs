//! Server-side apply: the API server computes what changes, and remembers which fields are ours.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::api::{Patch, PatchParams};
use serde_json::Value;
use thiserror::Error;

use crate::{
    error::{RequestError, bounded},
    kinds::{KindError, Kinds},
};

/// How many objects are applied at once. More does not go faster: the API server's store is the limit.
const IN_FLIGHT: usize = 8;

/// An object that could not be applied.
#[derive(Debug, Error)]
#[error("failed to apply {object}")]
pub struct ApplyError {
    /// The object as people name it: `Kind/namespace/name`.
    pub object: String,
    /// What stood in the way.
    pub source: ApplyProblem,
}

/// What stands in the way of an apply.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum ApplyProblem {
    #[error(transparent)]
    Kind(#[from] KindError),
    #[error("it has no metadata.name")]
    NoName,
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("the answer of the API server is not an object")]
    Answer(#[from] serde_json::Error),
}

/// Applies objects, several at a time and in any order, and gives them as the cluster now has them, in the
/// order given.
///
/// Fields that the objects name become ours, whoever had them before; all others stay as they are.
///
/// # Errors
/// At the first object that cannot be applied; others may have been.
pub async fn apply(
    kinds: &Kinds,
    field_manager: &str,
    objects: &[Value],
) -> Result<Vec<Value>, ApplyError> {
    let applies = objects.iter().map(|object| async move {
        let applied = apply_one(kinds, field_manager, object).await;
        applied.map_err(|source| ApplyError { object: display(object), source })
    });
    stream::iter(applies).buffered(IN_FLIGHT).try_collect().await
}

async fn apply_one(kinds: &Kinds, field_manager: &str, object: &Value) -> Result<Value, ApplyProblem> {
    let api = kinds.api(object).await?;
    let name = object.pointer("/metadata/name").and_then(Value::as_str).ok_or(ApplyProblem::NoName)?;
    let parameters = PatchParams::apply(field_manager).force();
    let applied = bounded(api.patch(name, &parameters, &Patch::Apply(object))).await?;
    Ok(serde_json::to_value(applied)?)
}

/// The object as people name it.
pub(crate) fn display(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/metadata/namespace") {
        "" => format!("{}/{}", text("/kind"), text("/metadata/name")),
        namespace => format!("{}/{namespace}/{}", text("/kind"), text("/metadata/name")),
    }
}
