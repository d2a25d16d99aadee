//! Whether Secrets exist. What they hold is never read.

use crds::names::is_domain;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

use crate::error::{RequestError, repeated};

/// Whether there is a Secret of a name. A name that no object can have is not asked for.
///
/// # Errors
/// When the cluster cannot be asked.
pub async fn has_secret(client: &Client, namespace: &str, name: &str) -> Result<bool, RequestError> {
    if !is_domain(name) {
        return Ok(false);
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    Ok(repeated(|| secrets.get_metadata_opt(name)).await?.is_some())
}
