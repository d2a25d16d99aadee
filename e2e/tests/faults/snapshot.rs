//! What is in the cluster, without what differs from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use crds::{FluxInstance, ObjectId, keys, status::InventoryEntry};
use futures::{StreamExt as _, stream};
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::TypeMeta;
use kube::core::discovery::ApiResource;
use kube::discovery::{Discovery, verbs};
use kube::{Client, ResourceExt as _};
use serde_json::{Map, Value};

/// How many kinds are listed at once.
const LISTS: usize = 8;
/// Between two attempts to list a kind that is new.
const PREPARATION: Duration = Duration::from_millis(100);
/// Kinds that controllers make with the labels of what they are made of, and without a controller reference.
const NOT_OURS: [&str; 2] = ["Endpoints", "Event"];
/// How many differences a message shows.
const SHOWN: usize = 12;

/// Objects by their ids, as the cluster has them.
pub(crate) type Objects = BTreeMap<ObjectId, Value>;

/// Everything that carries our owner labels, but for what controllers made of it, such as pods.
pub(crate) async fn owned(client: &Client) -> Objects {
    let selector = format!("{}=flux,{}=flux-system", keys::OWNER_NAME, keys::OWNER_NAMESPACE);
    let parameters = ListParams::default().labels(&selector);
    let kinds = listable(client).await.into_iter();
    let lists: Vec<_> = kinds.map(|kind| list(client.clone(), kind, parameters.clone())).collect();
    let found: Vec<_> = stream::iter(lists).buffer_unordered(LISTS).collect().await;
    found.into_iter().flatten().collect()
}

async fn list(client: Client, kind: ApiResource, parameters: ListParams) -> Vec<(ObjectId, Value)> {
    let api: Api<DynamicObject> = Api::all_with(client, &kind);
    let items = loop {
        match api.list(&parameters).await {
            Ok(list) => break list.items,
            // Its definition went since the discovery.
            Err(kube::Error::Api(status)) if status.code == 404 => break Vec::new(),
            // Its definition is new, and the API server still prepares.
            Err(kube::Error::Api(status)) if status.code == 429 => tokio::time::sleep(PREPARATION).await,
            Err(error) => panic!("{} cannot be listed: {error}", kind.plural),
        }
    };
    let is_derived = |object: &DynamicObject| {
        object.owner_references().iter().any(|owner| owner.controller.unwrap_or_default())
    };
    let items = items.into_iter().filter(|object| !is_derived(object));
    items
        .map(|object| (id(&kind, &object), serde_json::to_value(with_types(&kind, object)).unwrap()))
        .collect()
}

/// The objects without uids, versions, times, addresses and durations.
pub(crate) fn masked(objects: &Objects) -> Objects {
    objects.iter().map(|(id, object)| (id.clone(), mask(object.clone()))).collect()
}

/// What of an instance has to be the same after every run.
pub(crate) fn essence(instance: &FluxInstance) -> Value {
    let status = instance.status.clone().unwrap_or_default();
    let conditions: Vec<Value> = status
        .conditions
        .iter()
        .map(|one| serde_json::json!([one.type_, one.status, one.reason, one.observed_generation]))
        .collect();
    let inventory = status.inventory.unwrap_or_default();
    serde_json::json!({
        "finalizers": instance.metadata.finalizers,
        "spec": instance.spec,
        "conditions": conditions,
        "inventory": inventory.entries.iter().map(|entry| [&entry.id, &entry.v]).collect::<Vec<_>>(),
        "components": status.components,
        "revisions": [status.last_applied_revision, status.last_attempted_revision],
    })
}

/// The objects that no entry of the inventory names.
pub(crate) fn forgotten(objects: &Objects, instance: Option<&FluxInstance>) -> Vec<String> {
    let status = instance.and_then(|instance| instance.status.clone()).unwrap_or_default();
    let entries = status.inventory.unwrap_or_default().entries;
    let known: BTreeSet<String> = entries.into_iter().map(|entry| entry.id).collect();
    objects.keys().filter(|id| !known.contains(&id.entry_id())).map(ToString::to_string).collect()
}

/// The entries of an inventory whose uid is not that of the object.
pub(crate) fn misnamed(objects: &Objects, instance: &FluxInstance) -> Vec<String> {
    let status = instance.status.clone().unwrap_or_default();
    let uids: BTreeMap<String, Option<String>> = objects
        .iter()
        .map(|(id, object)| (id.entry_id(), object["metadata"]["uid"].as_str().map(str::to_owned)))
        .collect();
    let is_wrong = |entry: &&InventoryEntry| uids.get(&entry.id) != Some(&entry.uid);
    status
        .inventory
        .unwrap_or_default()
        .entries
        .iter()
        .filter(is_wrong)
        .map(|entry| entry.id.clone())
        .collect()
}

/// What differs, in lines for a person; empty when nothing does.
pub(crate) fn differences(expected: &Objects, found: &Objects) -> String {
    let ids: BTreeSet<&ObjectId> = expected.keys().chain(found.keys()).collect();
    let mut lines = Vec::new();
    for id in ids {
        match (expected.get(id), found.get(id)) {
            (Some(expected), Some(found)) => compare(&id.to_string(), expected, found, &mut lines),
            (Some(_), None) => lines.push(format!("{id} is missing")),
            (None, _) => lines.push(format!("{id} should not be there")),
        }
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    let mut text = lines.join("\n");
    if more > 0 {
        let _ = write!(text, "\nand {more} more");
    }
    text
}

/// Adds a line for each value that is not as expected.
pub(crate) fn compare(place: &str, expected: &Value, found: &Value, lines: &mut Vec<String>) {
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let side = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                compare(&format!("{place}/{key}"), &side(left), &side(right), lines);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place}/{index}"), left, right, lines);
            }
        }
        _ if expected != found => lines.push(format!("{place}: {expected} expected, {found} found")),
        _ => {}
    }
}

async fn listable(client: &Client) -> Vec<ApiResource> {
    let discovery = Discovery::new(client.clone()).run_aggregated().await.unwrap();
    let resources = discovery.groups().flat_map(kube::discovery::ApiGroup::recommended_resources);
    let is_wanted = |kind: &ApiResource| !NOT_OURS.contains(&kind.kind.as_str());
    let listable = resources.filter(|(kind, can)| can.supports_operation(verbs::LIST) && is_wanted(kind));
    listable.map(|(kind, _)| kind).collect()
}

/// Items of a list do not say what they are.
fn with_types(kind: &ApiResource, mut object: DynamicObject) -> DynamicObject {
    object.types = Some(TypeMeta { api_version: kind.api_version.clone(), kind: kind.kind.clone() });
    object
}

fn id(kind: &ApiResource, object: &DynamicObject) -> ObjectId {
    ObjectId {
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    }
}

fn mask(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut().unwrap();
    for key in ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
        metadata.remove(key);
    }
    if let Some(entries) = metadata.get_mut("managedFields").and_then(Value::as_array_mut) {
        // What other controllers write into a status, and when, is theirs.
        entries.retain(|entry| entry["subresource"] != "status");
        for entry in entries.iter_mut() {
            entry.as_object_mut().unwrap().remove("time");
        }
        entries.sort_by_key(ToString::to_string);
    }
    // Services get an address of their own.
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    if let Some(conditions) = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        conditions.sort_by_key(|condition| condition["type"].to_string());
        // The words of a Deployment's progress name a ReplicaSet, and which one is a matter of chance.
        for condition in conditions {
            condition.as_object_mut().unwrap().remove("message");
        }
    }
    // The quota controller counts when it likes.
    if object["kind"] == "ResourceQuota" {
        object.as_object_mut().unwrap().remove("status");
    }
    mask_times(&mut object);
    object
}

fn mask_times(value: &mut Value) {
    match value {
        Value::String(text) if is_time(text) => "(a time)".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(mask_times),
        Value::Object(fields) => fields.values_mut().for_each(mask_times),
        _ => {}
    }
}

/// `2026-01-01T00:00:00Z`
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bytes[13] == b':' && bytes.ends_with(b"Z")
}
