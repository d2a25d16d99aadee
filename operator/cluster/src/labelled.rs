//! Counting objects by their labels.

use kube::{api::ListParams, core::GroupVersionKind};
use thiserror::Error;

use crate::{
    error::{RequestError, repeated},
    kinds::{KindError, Kinds},
};

/// How many objects are listed at once.
const PAGE_SIZE: u32 = 500;

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
    let mut page = ListParams::default().labels(selector).limit(PAGE_SIZE);
    let mut count = 0;
    loop {
        let list = match repeated(|| api.list_metadata(&page)).await {
            Ok(list) => list,
            Err(RequestError::Refused(status)) if status.code == 404 => return Ok(count),
            Err(source) => return Err(CountError::List { kind: kind.kind.clone(), source }),
        };
        count += list.items.len();
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(count),
        }
    }
}
