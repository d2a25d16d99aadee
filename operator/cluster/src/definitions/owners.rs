//! Who owns which fields of an object, in the words of another version.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, ObjectMeta};
use kube::api::Patch;
use serde_json::{Value, json};

use super::plan::{Reach, Target};
use crate::managed_fields::merge;

/// The write that takes an object out of all other versions; none when it needs no write.
///
/// A patch that changes something fails when the object changed meanwhile.
pub(super) fn patch(
    metadata: &ObjectMeta,
    target: &Target,
    reach: Reach,
) -> Result<Option<Patch<Value>>, serde_json::Error> {
    let entries = metadata.managed_fields.as_deref().unwrap_or_default();
    let Some(entries) = rewritten(entries, target) else {
        // What is stored in another version differs from what would be stored: the API server writes it anew.
        return Ok((reach == Reach::Everything).then(|| Patch::Merge(json!({}))));
    };
    let operations = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata.resource_version},
    ]);
    Ok(Some(Patch::Json(serde_json::from_value(operations)?)))
}

/// The entries with the version of the target in place of others of its group; none when there is no other.
/// Owners, operations, times and fields stay.
fn rewritten(entries: &[ManagedFieldsEntry], target: &Target) -> Option<Vec<ManagedFieldsEntry>> {
    let is_old = |entry: &ManagedFieldsEntry| {
        let version = entry.api_version.as_deref().unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        group == target.resource.group && version != target.resource.api_version
    };
    if !entries.iter().any(is_old) {
        return None;
    }
    let mut rewritten: Vec<ManagedFieldsEntry> = Vec::with_capacity(entries.len());
    let mut places = BTreeMap::new();
    for entry in entries {
        let mut entry = entry.clone();
        if is_old(&entry) {
            entry.api_version = Some(target.resource.api_version.clone());
        }
        // The API server tells entries apart by all but their fields, and keeps one of two alike.
        let identity =
            serde_json::to_string(&ManagedFieldsEntry { fields_v1: None, ..entry.clone() }).ok()?;
        let place = *places.entry(identity).or_insert(rewritten.len());
        match rewritten.get_mut(place) {
            Some(twin) => unite(twin, entry.fields_v1),
            None => rewritten.push(entry),
        }
    }
    Some(rewritten)
}

fn unite(entry: &mut ManagedFieldsEntry, fields: Option<FieldsV1>) {
    let Some(FieldsV1(fields)) = fields else { return };
    let FieldsV1(own) = entry.fields_v1.get_or_insert_with(|| FieldsV1(json!({})));
    merge(own, fields);
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kube::api::{ApiResource, Patch};
    use serde_json::{Value, json};

    use super::{Reach, Target, patch};

    fn target() -> Target {
        let resource = ApiResource {
            group: "x.io".to_owned(),
            version: "v1".to_owned(),
            api_version: "x.io/v1".to_owned(),
            kind: "Policy".to_owned(),
            plural: "policies".to_owned(),
        };
        Target { definition: "policies.x.io".to_owned(), resource, is_namespaced: true }
    }

    fn entry(manager: &str, version: &str, time: &str, fields: &Value) -> Value {
        json!({
            "manager": manager, "operation": "Update", "apiVersion": version, "time": time,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    }

    const NOON: &str = "2026-01-01T12:00:00Z";
    const LATER: &str = "2026-01-01T12:00:01Z";

    /// What a patch does, as JSON; none when there is none.
    fn written(entries: &[Value], reach: Reach) -> Option<Value> {
        let metadata = json!({"name": "a", "resourceVersion": "7", "managedFields": entries});
        let metadata: ObjectMeta = serde_json::from_value(metadata).unwrap();
        match patch(&metadata, &target(), reach).unwrap()? {
            Patch::Json(operations) => Some(serde_json::to_value(operations).unwrap()),
            Patch::Merge(change) => Some(change),
            other => panic!("{other:?}"),
        }
    }

    /// The entries that a patch writes.
    fn entries_after(entries: &[Value]) -> Vec<Value> {
        let operations = written(entries, Reach::OwnedFields).unwrap();
        assert_eq!(operations[0]["path"], "/metadata/managedFields");
        assert_eq!(
            operations[1],
            json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}),
            "the write must fail when the object changed"
        );
        operations[0]["value"].as_array().unwrap().clone()
    }

    #[test]
    fn only_the_version_of_an_entry_changes() {
        let applied = json!({
            "manager": "argocd", "operation": "Apply", "apiVersion": "x.io/v1beta1", "time": NOON,
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:image": {}}},
        });
        let status = json!({
            "manager": "controller", "operation": "Update", "apiVersion": "x.io/v1beta2", "time": NOON,
            "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}, "subresource": "status",
        });
        let current = entry("kubectl", "x.io/v1", LATER, &json!({"f:spec": {"f:interval": {}}}));
        let foreign = entry("scaler", "autoscaling/v1", LATER, &json!({"f:spec": {"f:replicas": {}}}));
        let mut expected = [applied.clone(), status.clone(), current.clone(), foreign.clone()];
        expected[0]["apiVersion"] = json!("x.io/v1");
        expected[1]["apiVersion"] = json!("x.io/v1");
        assert_eq!(entries_after(&[applied, status, current, foreign]), expected);
    }

    #[test]
    fn entries_that_become_alike_are_united() {
        let one = entry("kubectl", "x.io/v1beta1", NOON, &json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}}));
        let two = entry("kubectl", "x.io/v1", NOON, &json!({"f:spec": {"f:b": {"f:d": {}}}, "f:data": {}}));
        let later = entry("kubectl", "x.io/v1beta2", LATER, &json!({"f:spec": {"f:e": {}}}));
        let other = entry("helm", "x.io/v1beta2", NOON, &json!({"f:spec": {"f:f": {}}}));
        let united = json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}, "f:d": {}}}, "f:data": {}});
        assert_eq!(
            entries_after(&[one, two, later, other]),
            [
                entry("kubectl", "x.io/v1", NOON, &united),
                entry("kubectl", "x.io/v1", LATER, &json!({"f:spec": {"f:e": {}}})),
                entry("helm", "x.io/v1", NOON, &json!({"f:spec": {"f:f": {}}})),
            ]
        );
    }

    #[test]
    fn an_object_without_old_owners_is_written_only_if_it_may_be_stored_in_an_old_version() {
        let current = entry("kubectl", "x.io/v1", NOON, &json!({}));
        for entries in [&[current][..], &[]] {
            assert_eq!(written(entries, Reach::OwnedFields), None);
            assert_eq!(written(entries, Reach::Everything), Some(json!({})), "nothing but a new encoding");
        }
    }
}
