//! `metadata.managedFields`: who owns which fields, and in whose name this program writes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::api::PatchParams;
use serde_json::{Map, Value};

/// How every change is sent that is no apply.
pub(crate) fn change() -> PatchParams {
    PatchParams { field_manager: Some(crds::FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}

/// How every apply is sent: fields become ours, whoever had them before.
pub(crate) fn apply() -> PatchParams {
    PatchParams::apply(crds::FIELD_MANAGER).force()
}

/// Our entry for the object itself.
pub(crate) fn is_ours(entry: &Value, field_manager: &str) -> bool {
    entry["manager"] == field_manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
}

/// The same of an entry that was read as its type.
pub(crate) fn is_our_entry(entry: &ManagedFieldsEntry) -> bool {
    entry.manager.as_deref() == Some(crds::FIELD_MANAGER)
        && entry.operation.as_deref() == Some("Apply")
        && entry.subresource.is_none()
}

/// Adds the fields of one owner to those of another. Field sets are trees as deep as the object, whose depth the
/// API server bounds.
pub(crate) fn merge(into: &mut Value, from: Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { return };
    for (key, value) in from {
        merge(into.entry(key).or_insert_with(|| Value::Object(Map::new())), value);
    }
}
