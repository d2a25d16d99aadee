//! Taking over objects that somebody else applied before.
//!
//! An object that enters an inventory may come from `flux bootstrap`, Helm or kubectl. Applying makes the
//! fields that we name ours; what the former manager applied besides stays its own and would never go away.
//! So its entry is merged into ours once, and the next apply removes what we do not name.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::managed_fields::{is_ours, merge};

/// Annotations that former managers leave behind.
const ANNOTATIONS: [&str; 3] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
];

/// Labels that former managers leave behind.
const LABELS: [&str; 2] = ["kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];

/// Whose fields are taken over, in the words of `metadata.managedFields`.
#[derive(Clone, Debug)]
pub struct FormerManagers {
    /// Managers that are taken over besides those that everybody comes from.
    pub others: BTreeSet<String>,
}

/// How much of an object is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// All fields: what we do not name goes.
    Object,
    /// All but the spec: what others set there stays.
    Metadata,
}

impl FormerManagers {
    fn include(&self, manager: &str, operation: &str) -> bool {
        match (manager, operation) {
            ("kustomize-controller", "Apply")
            | ("helm" | "before-first-apply", "Update")
            | ("flux", "Apply" | "Update") => true,
            (manager, _) if manager.starts_with("kubectl") => true,
            (manager, _) => self.others.contains(manager),
        }
    }
}

/// The JSON patch that makes the former managers' fields ours and removes what they left behind; none when
/// there is nothing to take over.
///
/// The patch fails when the object changed meanwhile.
pub(crate) fn plan(
    live: &Value,
    field_manager: &str,
    former: &FormerManagers,
    extent: Takeover,
) -> Option<Vec<Value>> {
    let mut operations = leftovers(live, "annotations", &ANNOTATIONS);
    operations.extend(leftovers(live, "labels", &LABELS));
    if let Some(entries) = merged_entries(live, field_manager, former, extent) {
        operations.push(json!({"op": "replace", "path": "/metadata/managedFields", "value": entries}));
    }
    if operations.is_empty() {
        return None;
    }
    let version = live.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
    operations.push(json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version}));
    Some(operations)
}

fn leftovers(live: &Value, field: &str, keys: &[&str]) -> Vec<Value> {
    let present = live.pointer(&format!("/metadata/{field}")).and_then(Value::as_object);
    let present = |key: &&&str| present.is_some_and(|map| map.contains_key(**key));
    let path = |key: &str| format!("/metadata/{field}/{}", key.replace('~', "~0").replace('/', "~1"));
    keys.iter().filter(present).map(|key| json!({"op": "remove", "path": path(key)})).collect()
}

/// The entries of `managedFields` with those of former managers merged into ours.
fn merged_entries(
    live: &Value,
    field_manager: &str,
    former: &FormerManagers,
    extent: Takeover,
) -> Option<Vec<Value>> {
    let entries = live.pointer("/metadata/managedFields")?.as_array()?;
    let is_former = |entry: &&Value| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        text("manager") != field_manager
            && text("subresource").is_empty()
            && former.include(text("manager"), text("operation"))
    };
    let (taken, kept): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(is_former);
    if taken.is_empty() {
        return None;
    }
    let mut kept: Vec<Value> = kept.into_iter().cloned().collect();
    let mut left = Vec::new();
    let ours = kept.iter_mut().find(|entry| is_ours(entry, field_manager))?;
    for entry in taken {
        let fields = entry.get("fieldsV1").cloned().unwrap_or_default();
        let (fields, rest) = split(fields, extent);
        merge(ours.as_object_mut()?.entry("fieldsV1").or_insert_with(|| json!({})), fields);
        if let Some(rest) = rest {
            let mut entry = entry.clone();
            entry.as_object_mut()?.insert("fieldsV1".to_owned(), rest);
            left.push(entry);
        }
    }
    kept.extend(left);
    Some(kept)
}

/// The fields that are taken over, and those that stay with their manager.
fn split(fields: Value, extent: Takeover) -> (Value, Option<Value>) {
    let Value::Object(mut fields) = fields else { return (json!({}), None) };
    let spec = match extent {
        Takeover::Object => None,
        Takeover::Metadata => fields.remove("f:spec"),
    };
    (Value::Object(fields), spec.map(|spec| json!({"f:spec": spec})))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{FormerManagers, Takeover, plan};

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    fn former(others: &[&str]) -> FormerManagers {
        FormerManagers { others: others.iter().map(|&other| other.to_owned()).collect::<BTreeSet<_>>() }
    }

    fn object(entries: &[Value]) -> Value {
        json!({"metadata": {"resourceVersion": "7", "managedFields": entries}})
    }

    fn entries_after(live: &Value, others: &[&str], extent: Takeover) -> Option<Value> {
        let operations = plan(live, "flux-operator", &former(others), extent)?;
        let replaced = operations.iter().find(|operation| operation["path"] == "/metadata/managedFields")?;
        Some(replaced["value"].clone())
    }

    #[test]
    fn fields_of_former_managers_become_ours() {
        let ours = entry("flux-operator", "Apply", &json!({"f:spec": {"f:a": {}}}));
        let status =
            json!({"manager": "kubectl", "operation": "Update", "subresource": "status", "fieldsV1": {}});
        let foreign = entry("kube-controller-manager", "Update", &json!({"f:spec": {"f:c": {}}}));
        for (manager, operation) in [
            ("flux", "Apply"),
            ("kubectl-client-side-apply", "Update"),
            ("kubectl", "Apply"),
            ("helm", "Update"),
            ("before-first-apply", "Update"),
            ("kustomize-controller", "Apply"),
            ("argocd", "Apply"),
        ] {
            let theirs = entry(manager, operation, &json!({"f:spec": {"f:b": {"f:x": {}}}, "f:data": {}}));
            let live = object(&[theirs, ours.clone(), status.clone(), foreign.clone()]);
            let expected = json!([
                entry(
                    "flux-operator",
                    "Apply",
                    &json!({"f:spec": {"f:a": {}, "f:b": {"f:x": {}}}, "f:data": {}})
                ),
                status,
                foreign
            ]);
            assert_eq!(entries_after(&live, &["argocd"], Takeover::Object), Some(expected), "{manager}");
        }
    }

    #[test]
    fn other_managers_and_other_operations_keep_their_fields() {
        let ours = entry("flux-operator", "Apply", &json!({}));
        for (manager, operation) in [
            ("helm", "Apply"),
            ("kustomize-controller", "Update"),
            ("argocd", "Apply"),
            ("kube-controller-manager", "Update"),
        ] {
            let live = object(&[entry(manager, operation, &json!({"f:spec": {}})), ours.clone()]);
            assert_eq!(plan(&live, "flux-operator", &former(&[]), Takeover::Object), None, "{manager}");
        }
    }

    #[test]
    fn the_spec_stays_with_its_manager_where_only_metadata_is_taken() {
        let theirs = entry(
            "kubectl-edit",
            "Update",
            &json!({"f:spec": {"f:suspend": {}}, "f:metadata": {"f:labels": {}}}),
        );
        let live = object(&[entry("flux-operator", "Apply", &json!({"f:spec": {"f:url": {}}})), theirs]);
        let expected = json!([
            entry(
                "flux-operator",
                "Apply",
                &json!({"f:spec": {"f:url": {}}, "f:metadata": {"f:labels": {}}})
            ),
            entry("kubectl-edit", "Update", &json!({"f:spec": {"f:suspend": {}}}))
        ]);
        assert_eq!(entries_after(&live, &[], Takeover::Metadata), Some(expected));
    }

    #[test]
    fn what_former_managers_left_behind_is_removed_under_a_version() {
        let live = json!({"metadata": {
            "resourceVersion": "7",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "keep": "x"},
            "labels": {"kustomize.toolkit.fluxcd.io/name": "flux-system", "keep": "x"}
        }});
        let operations = plan(&live, "flux-operator", &former(&[]), Takeover::Object).unwrap();
        assert_eq!(
            Value::Array(operations),
            json!([
                {"op": "remove", "path": "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"},
                {"op": "remove", "path": "/metadata/labels/kustomize.toolkit.fluxcd.io~1name"},
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
            ])
        );
    }
}
