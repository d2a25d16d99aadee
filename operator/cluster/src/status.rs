//! Reading one of our objects, and writing its status.

use std::fmt::Debug;

use kube::{
    Api, Resource,
    api::{Patch, PatchParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::error::{RequestError, bounded};

/// The object as it is now; none when there is none.
///
/// # Errors
/// When the API server refuses, or does not answer.
pub async fn get<K>(api: &Api<K>, name: &str) -> Result<Option<K>, RequestError>
where
    K: Clone + Debug + DeserializeOwned,
{
    bounded(api.get_opt(name)).await
}

/// Writes the status of an object: what is given, and nothing else that this operator wrote before. False
/// when the object is gone.
///
/// # Errors
/// When the API server refuses, or does not answer.
pub async fn apply_status<K>(api: &Api<K>, name: &str, status: &impl Serialize) -> Result<bool, RequestError>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let object = json!({
        "apiVersion": K::api_version(&()),
        "kind": K::kind(&()),
        "metadata": {"name": name},
        "status": status,
    });
    let parameters = PatchParams::apply(crds::FIELD_MANAGER).force();
    match bounded(api.patch_status(name, &parameters, &Patch::Apply(&object))).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == Some(404) => Ok(false),
        Err(error) => Err(error),
    }
}
