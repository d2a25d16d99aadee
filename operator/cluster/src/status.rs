//! Reading one of our objects, and writing its status.

use std::fmt::Debug;

use crds::status::Condition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Api, Client, Resource,
    api::Patch,
    core::{ApiResource, DynamicObject},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::{
    error::{RequestError, repeated},
    managed_fields,
};

/// Reads an object as it is now; none when it is gone.
///
/// # Errors
/// When the API server refuses, or does not answer.
pub async fn read<K>(api: &Api<K>, name: &str) -> Result<Option<K>, RequestError>
where
    K: Clone + Debug + DeserializeOwned,
{
    present(repeated(|| api.get(name)).await)
}

/// Writes the status of an object: what is given, and nothing else that this operator wrote before. Gives the
/// object as it is then; none when it is gone.
///
/// # Errors
/// When the object is another one, or was changed since it was read (409), the API server refuses, or does not
/// answer.
pub async fn apply_status<K>(
    api: &Api<K>,
    object: &K,
    status: &impl Serialize,
) -> Result<Option<K>, RequestError>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let metadata = object.meta();
    let name = metadata.name.as_deref().unwrap_or_default();
    let object = json!({
        "apiVersion": K::api_version(&()),
        "kind": K::kind(&()),
        "metadata": {"name": name, "uid": metadata.uid, "resourceVersion": metadata.resource_version},
        "status": status,
    });
    let parameters = managed_fields::apply();
    let patch = Patch::Apply(&object);
    present(repeated(|| api.patch_status(name, &parameters, &patch)).await)
}

/// Writes the conditions of an object that cannot be read as what it is; the rest of its status stays.
///
/// # Errors
/// When the object changed meanwhile (409), the API server refuses, or does not answer.
pub async fn write_conditions<K>(
    client: &Client,
    metadata: &ObjectMeta,
    conditions: &[Condition],
) -> Result<(), RequestError>
where
    K: Resource<DynamicType = ()>,
{
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let objects: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), namespace, &ApiResource::erase::<K>(&()));
    let patch = Patch::Merge(json!({
        "metadata": {"resourceVersion": metadata.resource_version},
        "status": {"conditions": conditions},
    }));
    let parameters = managed_fields::change();
    let name = metadata.name.as_deref().unwrap_or_default();
    repeated(|| objects.patch_status(name, &parameters, &patch)).await.map(|_| ())
}

/// Changes the finalizers of an object. Gives the object as it is then; none when it is gone.
///
/// # Errors
/// When the object changed meanwhile (409), the API server refuses, or does not answer.
pub async fn set_finalizers<K>(
    api: &Api<K>,
    object: &K,
    finalizers: &[String],
) -> Result<Option<K>, RequestError>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let metadata = object.meta();
    let patch = json!({"metadata": {
        "finalizers": finalizers,
        "resourceVersion": metadata.resource_version,
        "uid": metadata.uid,
    }});
    let parameters = managed_fields::change();
    let name = metadata.name.as_deref().unwrap_or_default();
    let patch = Patch::Merge(&patch);
    present(repeated(|| api.patch(name, &parameters, &patch)).await)
}

fn present<K>(answer: Result<K, RequestError>) -> Result<Option<K>, RequestError> {
    match answer {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}
