//! Labels and annotations of all managed objects.

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
    text::shortened,
};

/// Refuses labels and annotations that no object can have. Kubernetes reads keys of annotations in small letters.
pub(super) fn check(instance: &FluxInstance) -> Result<(), InvalidField> {
    let common = instance.spec.common_metadata.as_ref();
    let labels = || common.and_then(|common| common.labels.as_ref()).into_iter().flatten();
    let annotations = common.and_then(|common| common.annotations.as_ref()).into_iter().flatten();
    let bad_label = labels().map(|(key, _)| key).find(|key| !is_label_key(key));
    let mut keys = annotations.map(|(key, _)| key);
    let bad_annotation = keys.find(|key| !is_label_key(&key.to_ascii_lowercase()));
    for (map, key) in [("labels", bad_label), ("annotations", bad_annotation)] {
        if let Some(key) = key {
            let problem = format!(
                "'{}' is no key of {map}: it has letters, digits, dashes, underscores and dots, perhaps after a domain and a slash, such as example.com/team",
                shortened(key)
            );
            return Err(InvalidField::new(format!("spec.commonMetadata.{map}"), problem));
        }
    }
    match labels().find(|(_, value)| !is_label_value(value)) {
        Some((key, value)) => Err(InvalidField::new(
            format!("spec.commonMetadata.labels['{key}']"),
            format!(
                "'{}' is no value of a label: it has at most 63 letters, digits, dashes, underscores and dots; use an annotation for longer texts",
                shortened(value)
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
