//! Objects from text or JSON into a cluster.

use std::fmt;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::core::TypeMeta;
use kube::{Client, discovery};
use serde_json::Value;
use tokio::time::Instant;

use crate::error::write_with_causes;
use crate::{WaitError, has_condition, wait_for};

/// The field manager of everything that tests apply.
const FIELD_MANAGER: &str = "e2e";
/// A new definition is served within a second; a busy API server takes longer.
const SERVED_WITHIN: Duration = Duration::from_secs(20);
/// Between two looks whether a kind is served.
const DISCOVERY_INTERVAL: Duration = Duration::from_millis(50);

/// An object that could not be applied.
///
/// `Debug` prints the same sentences as `Display`, with the causes: it is what `unwrap` shows.
#[derive(thiserror::Error)]
pub enum ObjectError {
    /// The text is no YAML.
    #[error("failed to read the objects")]
    Yaml(#[source] Box<serde_saphyr::Error>),
    /// A document is no object of Kubernetes.
    #[error("document {document} is not an object of Kubernetes: {problem}")]
    NotAnObject {
        /// The document, shortened.
        document: String,
        /// What is missing or wrong.
        problem: String,
    },
    /// The kind is not served.
    #[error("the cluster does not serve kind {kind} of {api_version}")]
    NotServed {
        /// The object's `apiVersion`.
        api_version: String,
        /// The object's `kind`.
        kind: String,
        /// The last answer.
        source: Box<kube::Error>,
    },
    /// The API server refused the object.
    #[error("failed to apply {kind} {name}")]
    Apply {
        /// The object's kind.
        kind: String,
        /// The object's name.
        name: String,
        /// The answer.
        source: Box<kube::Error>,
    },
    /// A definition was applied and did not come into use.
    #[error("a definition was not established")]
    NotEstablished(#[source] WaitError),
}

impl fmt::Debug for ObjectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_with_causes(self, formatter)
    }
}

/// Applies all objects of a YAML text in their order; documents without content are skipped.
///
/// # Errors
/// [`ObjectError`] of the first object that fails; those before it are in the cluster.
pub async fn apply_yaml(client: &Client, text: &str) -> Result<Vec<DynamicObject>, ObjectError> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|error| ObjectError::Yaml(Box::new(error)))?;
    let mut applied = Vec::new();
    for document in documents.into_iter().filter(|document| !document.is_null()) {
        applied.push(apply(client, document).await?);
    }
    Ok(applied)
}

/// Applies an object (server-side, by force), in namespace `default` if it needs one and names none. A
/// definition is waited for until it is established.
///
/// # Errors
/// [`ObjectError`] says what is wrong with the object or what the API server answered.
pub async fn apply(client: &Client, object: Value) -> Result<DynamicObject, ObjectError> {
    let (meta, name) = identify(&object)?;
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
    let (resource, capabilities) = served(client, &meta).await?;
    let api: Api<DynamicObject> = match capabilities.scope {
        discovery::Scope::Cluster => Api::all_with(client.clone(), &resource),
        discovery::Scope::Namespaced => Api::namespaced_with(client.clone(), &namespace, &resource),
    };
    let parameters = PatchParams::apply(FIELD_MANAGER).force();
    let applied = api.patch(&name, &parameters, &Patch::Apply(object)).await.map_err(|source| {
        ObjectError::Apply { kind: meta.kind.clone(), name: name.clone(), source: Box::new(source) }
    })?;
    if meta.kind == "CustomResourceDefinition" {
        let definitions = Api::<CustomResourceDefinition>::all(client.clone());
        wait_for(&definitions, &name, has_condition("Established", "True"), SERVED_WITHIN)
            .await
            .map_err(ObjectError::NotEstablished)?;
    }
    Ok(applied)
}

fn identify(object: &Value) -> Result<(TypeMeta, String), ObjectError> {
    let wrong = |problem: String| ObjectError::NotAnObject {
        document: object.to_string().chars().take(80).collect(),
        problem,
    };
    let meta: TypeMeta = serde_json::from_value(object.clone()).map_err(|error| wrong(error.to_string()))?;
    let name = object["metadata"]["name"].as_str().ok_or_else(|| wrong("no metadata.name".to_owned()))?;
    Ok((meta, name.to_owned()))
}

/// Looks a kind up, again and again for a while: it may have been defined a moment ago.
async fn served(
    client: &Client,
    meta: &TypeMeta,
) -> Result<(kube::core::discovery::ApiResource, discovery::ApiCapabilities), ObjectError> {
    let kind = GroupVersionKind::try_from(meta).map_err(|error| ObjectError::NotAnObject {
        document: format!("{} {}", meta.api_version, meta.kind),
        problem: error.to_string(),
    })?;
    let began = Instant::now();
    loop {
        match discovery::pinned_kind(client, &kind).await {
            Ok(found) => return Ok(found),
            Err(source) if began.elapsed() >= SERVED_WITHIN => {
                return Err(ObjectError::NotServed {
                    api_version: meta.api_version.clone(),
                    kind: meta.kind.clone(),
                    source: Box::new(source),
                });
            }
            Err(_) => tokio::time::sleep(DISCOVERY_INTERVAL).await,
        }
    }
}
