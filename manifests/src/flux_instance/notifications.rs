//! Lets Flux's notifications speak of, and to, the kinds of this operator.

use serde_json::{Value, json};

use crate::objects::edit_list;

/// The kinds that alerts and receivers may name besides those of Flux.
const KINDS: [&str; 3] = ["FluxInstance", "ResourceSet", "ResourceSetInputProvider"];

/// In the definition of alerts: where the kind of an event source is listed.
const ALERT_KIND: &str =
    "/schema/openAPIV3Schema/properties/spec/properties/eventSources/items/properties/kind/enum";

/// In the definition of receivers: where the kind of a resource is listed.
const RECEIVER_KIND: &str =
    "/schema/openAPIV3Schema/properties/spec/properties/resources/items/properties/kind/enum";

/// Lets the definition of alerts or receivers take our kinds, in every version; other definitions stay.
pub(super) fn accept_kinds(definition: &mut Value) {
    let list = match definition.pointer("/metadata/name").and_then(Value::as_str) {
        Some("alerts.notification.toolkit.fluxcd.io") => ALERT_KIND,
        Some("receivers.notification.toolkit.fluxcd.io") => RECEIVER_KIND,
        _ => return,
    };
    let versions = definition.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    let lists = versions.into_iter().flatten().filter_map(|version| version.pointer_mut(list));
    for kinds in lists.filter_map(Value::as_array_mut) {
        for kind in KINDS {
            if !kinds.iter().any(|listed| listed == kind) {
                kinds.push(kind.into());
            }
        }
    }
}

/// Lets the controllers read and annotate our kinds.
pub(super) fn grant_kinds(cluster_role: &mut Value) {
    edit_list(cluster_role, &["rules"], |rules| {
        rules.push(json!({"apiGroups": [crds::GROUP], "resources": ["*"], "verbs": ["*"]}));
    });
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ALERT_KIND, accept_kinds};

    fn alerts(lists: &[Value]) -> Value {
        let versions: Vec<Value> = lists
            .iter()
            .map(|list| {
                let kind = json!({"properties": {"kind": {"enum": list}}});
                let spec = json!({"properties": {"eventSources": {"items": kind}}});
                json!({"schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}})
            })
            .collect();
        json!({"metadata": {"name": "alerts.notification.toolkit.fluxcd.io"}, "spec": {"versions": versions}})
    }

    #[test]
    fn every_version_takes_our_kinds_once() {
        let mut definition = alerts(&[json!(["Bucket"]), json!(["Bucket", "FluxInstance"])]);
        accept_kinds(&mut definition);
        let lists: Vec<&Value> = (0..2)
            .map(|version| definition["spec"]["versions"][version].pointer(ALERT_KIND).unwrap())
            .collect();
        assert_eq!(lists[0], &json!(["Bucket", "FluxInstance", "ResourceSet", "ResourceSetInputProvider"]));
        assert_eq!(lists[1], lists[0]);
    }

    #[test]
    fn a_definition_without_the_list_is_left_alone() {
        let definition = json!({
            "metadata": {"name": "receivers.notification.toolkit.fluxcd.io"},
            "spec": {"versions": [{"schema": {"openAPIV3Schema": {}}}]}
        });
        let mut changed = definition.clone();
        accept_kinds(&mut changed);
        assert_eq!(changed, definition);
    }
}
