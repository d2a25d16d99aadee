//! Rewriting the objects of a kind to one version, page by page.

use crds::ObjectId;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::{
    Api, Client,
    api::ListParams,
    core::{DynamicObject, ObjectList, PartialObjectMeta},
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{
    POLL_INTERVAL, SERVED_TIMEOUT,
    error::DefinitionError,
    owners,
    plan::{Reach, Target},
};
use crate::{
    error::{RequestError, repeated},
    managed_fields,
    pages::PAGE_SIZE,
};

/// How many objects of a kind are written at once.
const IN_FLIGHT: usize = 8;

/// How often an object is tried again that others changed meanwhile.
const CONFLICT_RETRIES: usize = 10;

/// How often a list that took too long is started anew. Each time, what was done costs only its reading.
const MOST_RESTARTS: usize = 5;

/// Rewrites all objects of a kind that need it. Gives how many were written, though some as they were.
///
/// Objects that vanish meanwhile are done; those that others change meanwhile are read again.
pub(super) async fn rewrite(
    client: &Client,
    target: &Target,
    reach: Reach,
) -> Result<usize, DefinitionError> {
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), &target.resource);
    let mut page = ListParams::default().limit(PAGE_SIZE);
    let (mut written, mut restarts) = (0, 0);
    loop {
        let list = match repeated(|| objects.list_metadata(&page)).await {
            Ok(list) => list,
            Err(RequestError::Refused(status)) if status.code == 410 && restarts < MOST_RESTARTS => {
                restarts += 1;
                // The API server gives a token to go on with: what came meanwhile is in the new version.
                page.continue_token = status.metadata.and_then(|metadata| metadata.continue_);
                continue;
            }
            Err(source) => return Err(list_error(target, source)),
        };
        let ObjectList { metadata, items, .. } = list;
        written += rewrite_all(client, target, reach, items).await?;
        page.continue_token = metadata.continue_.filter(|token| !token.is_empty());
        if page.continue_token.is_none() {
            return Ok(written);
        }
    }
}

/// Waits until the kind is served in the version of the target.
pub(super) async fn until_served(client: &Client, target: &Target) -> Result<(), DefinitionError> {
    let objects: Api<DynamicObject> = Api::all_with(client.clone(), &target.resource);
    let deadline = Instant::now() + SERVED_TIMEOUT;
    let one = ListParams::default().limit(1);
    loop {
        match repeated(|| objects.list_metadata(&one)).await {
            Ok(_) => return Ok(()),
            Err(error) if error.code() != Some(404) => return Err(list_error(target, error)),
            Err(_) if Instant::now() >= deadline => {
                let version = target.resource.version.clone();
                return Err(DefinitionError::NotServed { definition: target.definition.clone(), version });
            }
            Err(_) => sleep(POLL_INTERVAL).await,
        }
    }
}

async fn rewrite_all(
    client: &Client,
    target: &Target,
    reach: Reach,
    objects: Vec<PartialObjectMeta<DynamicObject>>,
) -> Result<usize, DefinitionError> {
    let writes = objects.into_iter().map(|object| rewrite_one(client, target, reach, object));
    let writes = stream::iter(writes).buffer_unordered(IN_FLIGHT);
    writes.try_fold(0, async |written, is_written| Ok(written + usize::from(is_written))).await
}

/// True when the object was written.
async fn rewrite_one(
    client: &Client,
    target: &Target,
    reach: Reach,
    mut object: PartialObjectMeta<DynamicObject>,
) -> Result<bool, DefinitionError> {
    let id = id_of(target, &object);
    let api: Api<DynamicObject> = if target.is_namespaced {
        Api::namespaced_with(client.clone(), &id.namespace, &target.resource)
    } else {
        Api::all_with(client.clone(), &target.resource)
    };
    let failed = |source| DefinitionError::Rewrite {
        definition: target.definition.clone(),
        object: id.clone(),
        version: target.resource.version.clone(),
        source,
    };
    for _ in 0..CONFLICT_RETRIES {
        match write(&api, target, reach, &object).await {
            Ok(is_written) => return Ok(is_written),
            Err(error) if error.code() == Some(404) => return Ok(false),
            Err(error) if error.code() == Some(409) => {}
            Err(error) => return Err(failed(error)),
        }
        let Some(again) = repeated(|| api.get_metadata_opt(&id.name)).await.map_err(&failed)? else {
            return Ok(false);
        };
        object = again;
    }
    Err(DefinitionError::Restless { version: target.resource.version.clone(), object: id })
}

async fn write(
    api: &Api<DynamicObject>,
    target: &Target,
    reach: Reach,
    object: &PartialObjectMeta<DynamicObject>,
) -> Result<bool, RequestError> {
    let patch = owners::patch(&object.metadata, target, reach).map_err(kube::Error::SerdeError)?;
    let Some(patch) = patch else { return Ok(false) };
    let parameters = managed_fields::change();
    let name = object.metadata.name.as_deref().unwrap_or_default();
    repeated(|| api.patch_metadata::<Value>(name, &parameters, &patch)).await?;
    Ok(true)
}

fn id_of(target: &Target, object: &PartialObjectMeta<DynamicObject>) -> ObjectId {
    ObjectId {
        group: target.resource.group.clone(),
        kind: target.resource.kind.clone(),
        namespace: object.metadata.namespace.clone().unwrap_or_default(),
        name: object.metadata.name.clone().unwrap_or_default(),
    }
}

fn list_error(target: &Target, source: RequestError) -> DefinitionError {
    let (definition, version) = (target.definition.clone(), target.resource.version.clone());
    DefinitionError::List { definition, version, source }
}
