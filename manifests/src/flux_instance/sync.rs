//! The source that Flux follows, and the Kustomization that applies it.

use crds::flux_instance::{Sync, SyncKind, SyncProvider};
use serde_json::{Map, Value, json};

use super::{BuildError, InvalidField};
use crate::semver::Version;

/// How often the Kustomization is reconciled, whatever the interval of the source.
const KUSTOMIZATION_INTERVAL: &str = "10m";

/// The first minor of Flux whose source-controller takes AWS identities for Git.
const AWS_FOR_GIT_SINCE: (u64, u64) = (2, 9);

/// The objects of a sync, without their namespace.
pub(super) fn objects(sync: &Sync, namespace: &str, version: &Version) -> Result<Vec<Value>, BuildError> {
    check(sync, version)?;
    let name = sync.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(namespace);
    let kustomization = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name},
        "spec": {
            "interval": KUSTOMIZATION_INTERVAL,
            "path": sync.path,
            "prune": true,
            "sourceRef": {"kind": sync.kind.as_str(), "name": name},
        },
    });
    Ok(vec![source(sync, name), kustomization])
}

fn source(sync: &Sync, name: &str) -> Value {
    let mut spec = Map::new();
    spec.insert("interval".to_owned(), sync.interval.as_str().into());
    match sync.kind {
        SyncKind::GitRepository => {
            spec.insert("url".to_owned(), sync.url.as_str().into());
            spec.insert("ref".to_owned(), json!({"name": sync.reference}));
        }
        SyncKind::OCIRepository => {
            spec.insert("url".to_owned(), sync.url.as_str().into());
            spec.insert("ref".to_owned(), json!({"tag": sync.reference}));
        }
        SyncKind::Bucket => {
            spec.insert("endpoint".to_owned(), sync.url.as_str().into());
            spec.insert("bucketName".to_owned(), sync.reference.as_str().into());
        }
    }
    if let Some(secret) = sync.pull_secret.as_deref().filter(|secret| !secret.is_empty()) {
        spec.insert("secretRef".to_owned(), json!({"name": secret}));
    }
    if let Some(provider) = sync.provider {
        spec.insert("provider".to_owned(), provider.as_str().into());
    }
    json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": sync.kind.as_str(),
        "metadata": {"name": name},
        "spec": spec,
    })
}

fn check(sync: &Sync, version: &Version) -> Result<(), BuildError> {
    if sync.kind == SyncKind::GitRepository
        && sync.provider == Some(SyncProvider::Aws)
        && (version.major(), version.minor()) < AWS_FOR_GIT_SINCE
    {
        let (major, minor) = AWS_FOR_GIT_SINCE;
        return Err(BuildError::NeedsFlux {
            field: "spec.sync.provider",
            value: "aws (with kind GitRepository)",
            since: format!("{major}.{minor}"),
            version: version.clone(),
        });
    }
    let schemes: &[&str] = match sync.kind {
        SyncKind::GitRepository => &["https://", "http://", "ssh://"],
        SyncKind::OCIRepository => &["oci://"],
        SyncKind::Bucket => &[],
    };
    if !schemes.is_empty() && !schemes.iter().any(|scheme| sync.url.starts_with(scheme)) {
        return Err(InvalidField::new(
            "spec.sync.url",
            format!("must start with {} for kind {}", schemes.join(" or "), sync.kind.as_str()),
        )
        .into());
    }
    Ok(())
}
