//! The source that Flux follows, and the Kustomization that applies it.

mod check;

use crds::{
    flux_instance::{Sync, SyncKind},
    resource_set_input_provider::SecretReference,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::BuildError;
use crate::semver::Version;
use check::check;

/// How often the Kustomization is reconciled, whatever the interval of the source.
const KUSTOMIZATION_INTERVAL: &str = "10m";

/// The objects of a sync, without their namespace.
pub(super) fn objects(sync: &Sync, namespace: &str, version: &Version) -> Result<Vec<Value>, BuildError> {
    check(sync, version)?;
    let name = sync.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(namespace);
    Ok(vec![source(sync, name), kustomization(sync, name)])
}

fn kustomization(sync: &Sync, name: &str) -> Value {
    let mut spec = Map::new();
    spec.insert("interval".to_owned(), KUSTOMIZATION_INTERVAL.into());
    spec.insert("path".to_owned(), sync.path.as_str().into());
    spec.insert("prune".to_owned(), sync.prune.unwrap_or(true).into());
    spec.insert("sourceRef".to_owned(), json!({"kind": sync.kind.as_str(), "name": name}));
    insert(&mut spec, "suspend", sync.suspend.as_ref());
    insert(&mut spec, "timeout", sync.timeout.as_ref());
    insert(&mut spec, "retryInterval", sync.retry_interval.as_ref());
    insert(&mut spec, "serviceAccountName", named(sync.service_account_name.as_deref()));
    insert(&mut spec, "decryption", sync.decryption.as_ref());
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name},
        "spec": spec,
    })
}

fn source(sync: &Sync, name: &str) -> Value {
    let mut spec = Map::new();
    spec.insert("interval".to_owned(), sync.interval.as_str().into());
    match sync.kind {
        SyncKind::GitRepository => {
            spec.insert("url".to_owned(), sync.url.as_str().into());
            spec.insert("ref".to_owned(), reference(sync, "name"));
        }
        SyncKind::OCIRepository => {
            spec.insert("url".to_owned(), sync.url.as_str().into());
            spec.insert("ref".to_owned(), reference(sync, "tag"));
        }
        SyncKind::Bucket => {
            spec.insert("endpoint".to_owned(), sync.url.as_str().into());
            spec.insert("bucketName".to_owned(), sync.reference.as_str().into());
        }
    }
    if let Some(secret) = named(sync.pull_secret.as_deref()) {
        spec.insert("secretRef".to_owned(), json!({"name": secret}));
    }
    if let Some(provider) = sync.provider {
        spec.insert("provider".to_owned(), provider.as_str().into());
    }
    // That a GitRepository is not insecure goes without saying: it has no such field.
    if sync.kind != SyncKind::GitRepository {
        insert(&mut spec, "insecure", sync.insecure.as_ref());
    }
    insert(&mut spec, "verify", sync.verify.as_ref());
    insert(&mut spec, "proxySecretRef", secret(sync.proxy_secret_ref.as_ref()));
    insert(&mut spec, "certSecretRef", secret(sync.cert_secret_ref.as_ref()));
    insert(&mut spec, "ignore", sync.ignore.as_ref());
    insert(&mut spec, "suspend", sync.suspend.as_ref());
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": sync.kind.as_str(),
        "metadata": {"name": name},
        "spec": spec,
    })
}

/// What is followed, in the words of the kind.
fn reference(sync: &Sync, field: &str) -> Value {
    match named(sync.semver.as_deref()) {
        Some(range) => json!({"semver": range}),
        None => json!({field: sync.reference}),
    }
}

/// Sets a field that has the same form in Flux.
fn insert(spec: &mut Map<String, Value>, field: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        spec.insert(field.to_owned(), json!(value));
    }
}

/// An empty name is none.
fn named(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !name.is_empty())
}

/// A reference to an empty name is none.
fn secret(reference: Option<&SecretReference>) -> Option<&SecretReference> {
    reference.filter(|reference| !reference.name.is_empty())
}
