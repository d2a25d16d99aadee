//! Labels and annotations of all managed objects.

use std::collections::BTreeMap;

use crds::{
    FluxInstance,
    keys::{OWNER_NAME, OWNER_NAMESPACE, PRUNE},
    names::{is_label_key, is_label_value},
};
use serde_json::{Map, Value};

use super::InvalidField;
use crate::{
    objects::{edit_map, kind},
    semver::Version,
};

/// Refuses labels and annotations that no object can have.
pub(super) fn check(instance: &FluxInstance) -> Result<(), InvalidField> {
    let common = instance.spec.common_metadata.as_ref();
    let of = |map: Option<&BTreeMap<String, String>>| map.cloned().unwrap_or_default();
    let labels = of(common.and_then(|common| common.labels.as_ref()));
    let annotations = of(common.and_then(|common| common.annotations.as_ref()));
    let mut keys =
        labels.keys().map(|key| ("labels", key)).chain(annotations.keys().map(|key| ("annotations", key)));
    if let Some((map, key)) = keys.find(|(_, key)| !is_label_key(key)) {
        let problem = format!(
            "'{key}' is no key of {map}: it has letters, digits, dashes, underscores and dots, perhaps after a domain and a slash, such as example.com/team"
        );
        return Err(InvalidField::new(format!("spec.commonMetadata.{map}"), problem));
    }
    match labels.iter().find(|(_, value)| !is_label_value(value)) {
        Some((key, value)) => Err(InvalidField::new(
            format!("spec.commonMetadata.labels['{key}']"),
            format!(
                "'{value}' is no value of a label: it has at most 63 letters, digits, dashes, underscores and dots; use an annotation for longer texts"
            ),
        )),
        None => Ok(()),
    }
}

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
