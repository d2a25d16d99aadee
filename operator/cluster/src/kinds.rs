use std::{collections::HashMap, sync::Mutex};

use kube::{
    Api, Client,
    core::{DynamicObject, GroupVersionKind},
    discovery::{ApiResource, Scope, pinned_kind},
};
use serde_json::Value;
use thiserror::Error;

use crate::error::{RequestError, bounded};

/// What the cluster calls its kinds, asked for once a kind and process.
pub struct Kinds {
    client: Client,
    known: Mutex<HashMap<GroupVersionKind, (ApiResource, Scope)>>,
}

/// Why an object has no place in the cluster.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages document the variants and their fields")]
pub enum KindError {
    #[error("the cluster has no kind {kind} in {api_version}: is its CustomResourceDefinition installed?")]
    Unknown { kind: String, api_version: String },
    #[error("failed to look up kind {kind} in {api_version}")]
    Lookup { kind: String, api_version: String, source: RequestError },
    #[error("{kind} is namespaced and has no metadata.namespace")]
    NoNamespace { kind: String },
}

impl Kinds {
    /// Kinds of the cluster that the client is connected to.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// The connection that kinds are looked up with.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The API that serves an object, in the object's namespace.
    ///
    /// # Errors
    /// When the cluster does not know the kind, cannot be asked, or the object lacks its namespace.
    pub async fn api(&self, object: &Value) -> Result<Api<DynamicObject>, KindError> {
        let (resource, scope) = self.resolve(object).await?;
        if scope == Scope::Cluster {
            return Ok(Api::all_with(self.client.clone(), &resource));
        }
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
        let namespace = namespace.ok_or(KindError::NoNamespace { kind: resource.kind.clone() })?;
        Ok(Api::namespaced_with(self.client.clone(), namespace, &resource))
    }

    async fn resolve(&self, object: &Value) -> Result<(ApiResource, Scope), KindError> {
        let kind = kind_of(object);
        if let Some(known) = self.known(&kind) {
            return Ok(known);
        }
        let (resource, capabilities) =
            bounded(pinned_kind(&self.client, &kind)).await.map_err(|error| lookup_error(&kind, error))?;
        let found = (resource, capabilities.scope);
        self.remember(kind, found.clone());
        Ok(found)
    }

    fn known(&self, kind: &GroupVersionKind) -> Option<(ApiResource, Scope)> {
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.get(kind).cloned()
    }

    fn remember(&self, kind: GroupVersionKind, found: (ApiResource, Scope)) {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.insert(kind, found);
    }
}

fn kind_of(object: &Value) -> GroupVersionKind {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    GroupVersionKind::gvk(group, version, text("kind"))
}

fn lookup_error(kind: &GroupVersionKind, error: RequestError) -> KindError {
    let (kind, api_version) = (kind.kind.clone(), kind.api_version());
    let is_unknown = match &error {
        RequestError::Refused(status) => status.code == 404,
        RequestError::Failed(error) => matches!(**error, kube::Error::Discovery(_)),
        RequestError::TimedOut => false,
    };
    if is_unknown {
        return KindError::Unknown { kind, api_version };
    }
    KindError::Lookup { kind, api_version, source: error }
}
