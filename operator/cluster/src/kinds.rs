use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crds::ObjectId;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    core::{DynamicObject, GroupVersionKind, PartialObjectMeta},
    discovery::{self, ApiResource, Scope, pinned_kind},
};
use serde_json::Value;
use thiserror::Error;

use crate::error::{RequestError, repeated};

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
        let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let version = api_version.rsplit('/').next().unwrap_or_default();
        self.api_of(&ObjectId::of(object), version).await
    }

    /// The API that serves the object of an id in a version, in the object's namespace.
    ///
    /// # Errors
    /// When the cluster does not know the kind, cannot be asked, or the id lacks its namespace.
    pub async fn api_of(&self, id: &ObjectId, version: &str) -> Result<Api<DynamicObject>, KindError> {
        let kind = GroupVersionKind::gvk(&id.group, version, &id.kind);
        let (resource, scope) = self.resolve(kind).await?;
        if scope == Scope::Cluster {
            return Ok(Api::all_with(self.client.clone(), &resource));
        }
        if id.namespace.is_empty() {
            return Err(KindError::NoNamespace { kind: resource.kind });
        }
        Ok(Api::namespaced_with(self.client.clone(), &id.namespace, &resource))
    }

    /// The API that serves the object of an id, in a version or, when that one is not served any more, in another;
    /// none when the kind is not served at all.
    ///
    /// # Errors
    /// When the cluster cannot be asked, or the id lacks its namespace.
    pub async fn find_api(
        &self,
        id: &ObjectId,
        version: &str,
    ) -> Result<Option<Api<DynamicObject>>, KindError> {
        match self.api_of(id, version).await {
            Err(KindError::Unknown { .. }) => {}
            found => return found.map(Some),
        }
        match self.served_version(&id.group, &id.kind).await? {
            Some(version) => self.api_of(id, &version).await.map(Some),
            None => Ok(None),
        }
    }

    /// Looks a kind up anew when it is next asked for.
    pub(crate) fn forget(&self, group: &str, kind: &str) {
        self.lock().retain(|known, _| known.group != group || known.kind != kind);
    }

    /// The version in which a kind is served, the preferred one of its group before others.
    async fn served_version(&self, group: &str, kind: &str) -> Result<Option<String>, KindError> {
        // The core group has one version only, and is in no list of groups.
        if group.is_empty() {
            return Ok(None);
        }
        match repeated(|| discovery::group(&self.client, group)).await {
            Ok(found) => Ok(found.recommended_kind(kind).map(|(resource, _)| resource.version)),
            Err(error) => match lookup_error(&GroupVersionKind::gvk(group, "", kind), error) {
                KindError::Unknown { .. } => Ok(None),
                error => Err(error),
            },
        }
    }

    /// The API of all objects of a kind, in all namespaces.
    ///
    /// # Errors
    /// When the cluster does not know the kind, or cannot be asked.
    pub async fn all(&self, kind: &GroupVersionKind) -> Result<Api<DynamicObject>, KindError> {
        let (resource, _) = self.resolve(kind.clone()).await?;
        Ok(Api::all_with(self.client.clone(), &resource))
    }

    /// The API of the objects of a kind in one namespace, or of a cluster-scoped kind.
    ///
    /// # Errors
    /// When the cluster does not know the kind, or cannot be asked.
    pub async fn in_namespace(
        &self,
        kind: &GroupVersionKind,
        namespace: Option<&str>,
    ) -> Result<Api<DynamicObject>, KindError> {
        let (resource, _) = self.resolve(kind.clone()).await?;
        Ok(match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        })
    }

    /// The API of all objects of a kind, in all namespaces, for reading their metadata alone.
    ///
    /// # Errors
    /// When the cluster does not know the kind, or cannot be asked.
    pub async fn all_metadata(
        &self,
        kind: &GroupVersionKind,
    ) -> Result<Api<PartialObjectMeta<DynamicObject>>, KindError> {
        let (resource, _) = self.resolve(kind.clone()).await?;
        Ok(Api::all_with(self.client.clone(), &resource))
    }

    /// The kind that a CustomResourceDefinition defines, in the version that is stored; none when there is no
    /// such definition.
    ///
    /// # Errors
    /// When the cluster cannot be asked.
    pub async fn defined_by(&self, definition: &str) -> Result<Option<GroupVersionKind>, KindError> {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let found =
            repeated(|| definitions.get_opt(definition)).await.map_err(|source| KindError::Lookup {
                kind: "CustomResourceDefinition".to_owned(),
                api_version: "apiextensions.k8s.io/v1".to_owned(),
                source,
            })?;
        Ok(found.and_then(|found| {
            let stored = found.spec.versions.iter().find(|version| version.storage)?;
            Some(GroupVersionKind::gvk(&found.spec.group, &stored.name, &found.spec.names.kind))
        }))
    }

    async fn resolve(&self, kind: GroupVersionKind) -> Result<(ApiResource, Scope), KindError> {
        if let Some(known) = self.known(&kind) {
            return Ok(known);
        }
        let (resource, capabilities) = repeated(|| pinned_kind(&self.client, &kind))
            .await
            .map_err(|error| lookup_error(&kind, error))?;
        let found = (resource, capabilities.scope);
        self.remember(kind, found.clone());
        Ok(found)
    }

    fn known(&self, kind: &GroupVersionKind) -> Option<(ApiResource, Scope)> {
        self.lock().get(kind).cloned()
    }

    fn remember(&self, kind: GroupVersionKind, found: (ApiResource, Scope)) {
        self.lock().insert(kind, found);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GroupVersionKind, (ApiResource, Scope)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lookup_error(kind: &GroupVersionKind, error: RequestError) -> KindError {
    let (kind, api_version) = (kind.kind.clone(), kind.api_version());
    let is_unknown = match &error {
        RequestError::Refused(status) => status.code == 404,
        RequestError::Failed(error) => matches!(**error, kube::Error::Discovery(_)),
        _ => false,
    };
    if is_unknown {
        return KindError::Unknown { kind, api_version };
    }
    KindError::Lookup { kind, api_version, source: error }
}
