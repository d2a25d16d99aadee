//! Lists in pages: of objects without number, no more than a page is in memory.

use std::fmt::Debug;

use futures::{Stream, stream};
use kube::{Api, api::ListParams, core::PartialObjectMeta};
use serde::de::DeserializeOwned;

use crate::error::{RequestError, repeated};

/// Objects in one page, metadata alone: some kilobytes each, so that a page stays in the low megabytes.
pub(crate) const PAGE_SIZE: u32 = 200;

/// The metadata of the objects that are asked for, a page at a time. Of a kind whose definition goes meanwhile there
/// are no more.
pub(crate) fn pages<K>(
    api: &Api<K>,
    wanted: ListParams,
) -> impl Stream<Item = Result<Vec<PartialObjectMeta<K>>, RequestError>>
where
    K: Clone + Debug + DeserializeOwned,
{
    stream::try_unfold(Some(wanted.limit(PAGE_SIZE)), move |page| async move {
        let Some(page) = page else { return Ok(None) };
        let list = match repeated(|| api.list_metadata(&page)).await {
            Ok(list) => list,
            Err(RequestError::Refused(status)) if status.code == 404 => return Ok(None),
            Err(error) => return Err(error),
        };
        let token = list.metadata.continue_.filter(|token| !token.is_empty());
        Ok(Some((list.items, token.map(|token| page.continue_token(&token)))))
    })
}
