//! Counting objects by their labels.

use std::future::ready;

use futures::TryStreamExt as _;
use kube::{api::ListParams, core::GroupVersionKind};
use thiserror::Error;

use crate::{
    error::RequestError,
    kinds::{KindError, Kinds},
    pages::pages,
};

/// Why objects could not be counted.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum CountError {
    #[error(transparent)]
    Kind(#[from] KindError),
    #[error("failed to list objects of kind {kind}")]
    List { kind: String, source: RequestError },
}

/// How many objects of a kind a label selector chooses, in all namespaces. A kind that the cluster does not know
/// has none. Nothing but metadata is read, a page at a time.
///
/// # Errors
/// When the cluster cannot be asked.
pub async fn count_labelled(
    kinds: &Kinds,
    kind: &GroupVersionKind,
    selector: &str,
) -> Result<usize, CountError> {
    let api = match kinds.all_metadata(kind).await {
        Ok(api) => api,
        Err(KindError::Unknown { .. }) => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    pages(&api, ListParams::default().labels(selector))
        .try_fold(0, |count, page| ready(Ok(count + page.len())))
        .await
        .map_err(|source| CountError::List { kind: kind.kind.clone(), source })
}
