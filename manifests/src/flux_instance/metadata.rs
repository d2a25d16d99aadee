//! Labels and annotations of all managed objects.

use crds::{
    FluxInstance,
    keys::{OWNER_NAME, OWNER_NAMESPACE, PRUNE},
};
use serde_json::{Map, Value};

use crate::{
    objects::{edit_map, kind},
    semver::Version,
};

/// Writes what every managed object carries. The instance's common metadata wins, but for what the operator
/// knows its objects by and what keeps the namespace from being deleted.
pub(super) fn apply(object: &mut Value, instance: &FluxInstance, namespace: &str, version: &Version) {
    let common = instance.spec.common_metadata.as_ref();
    let is_namespace = kind(object) == "Namespace";
    edit_map(object, &["metadata", "labels"], |labels| {
        insert(labels, "app.kubernetes.io/instance", namespace);
        insert(labels, "app.kubernetes.io/managed-by", "flux-operator");
        insert(labels, "app.kubernetes.io/part-of", "flux");
        insert(labels, "app.kubernetes.io/version", version.original());
        for (key, value) in common.and_then(|common| common.labels.as_ref()).into_iter().flatten() {
            insert(labels, key, value);
        }
        insert(labels, OWNER_NAME, instance.metadata.name.as_deref().unwrap_or(crds::INSTANCE_NAME));
        insert(labels, OWNER_NAMESPACE, namespace);
    });
    edit_map(object, &["metadata", "annotations"], |annotations| {
        // A Kustomization that installed Flux before neither overwrites nor prunes what is ours now.
        insert(annotations, "kustomize.toolkit.fluxcd.io/prune", "Disabled");
        insert(annotations, "kustomize.toolkit.fluxcd.io/ssa", "Ignore");
        for (key, value) in common.and_then(|common| common.annotations.as_ref()).into_iter().flatten() {
            insert(annotations, key, value);
        }
        if is_namespace {
            insert(annotations, PRUNE, "disabled");
        }
    });
}

fn insert(map: &mut Map<String, Value>, key: &str, value: &str) {
    map.insert(key.to_owned(), value.into());
}
