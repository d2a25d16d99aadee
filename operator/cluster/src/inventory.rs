//! What belongs to an instance: recorded before it is created, forgotten once it is confirmed gone.

use std::collections::BTreeSet;

use crds::{
    ObjectId,
    status::{Inventory, InventoryEntry},
};
use serde_json::Value;

/// The entry of an object: with its uid once the object was seen in the cluster.
#[must_use]
pub fn entry(object: &Value) -> InventoryEntry {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("/apiVersion");
    let uid = text("/metadata/uid");
    InventoryEntry {
        id: ObjectId::of(object).entry_id(),
        v: api_version.rsplit('/').next().unwrap_or_default().to_owned(),
        uid: (!uid.is_empty()).then(|| uid.to_owned()),
    }
}

/// What is recorded before anything is created: the desired objects in order, then those that are recorded
/// and not desired. Uids that are known stay known.
#[must_use]
pub fn intent(recorded: &Inventory, desired: &[Value]) -> Inventory {
    let mut entries: Vec<InventoryEntry> = desired
        .iter()
        .map(|object| {
            let wanted = entry(object);
            let known = recorded.entries.iter().find(|known| known.id == wanted.id);
            InventoryEntry { uid: known.and_then(|known| known.uid.clone()), ..wanted }
        })
        .collect();
    entries.extend(stale(recorded, desired).cloned());
    Inventory { entries }
}

/// The recorded objects that are not desired any more, in the order in which they were applied.
pub fn stale<'a>(recorded: &'a Inventory, desired: &[Value]) -> impl Iterator<Item = &'a InventoryEntry> {
    let wanted: BTreeSet<String> = desired.iter().map(|object| ObjectId::of(object).entry_id()).collect();
    recorded.entries.iter().filter(move |entry| !wanted.contains(&entry.id))
}

/// True when an object of this id was seen before: it has been taken over, and its uid is known.
#[must_use]
pub fn is_confirmed(recorded: &Inventory, object: &Value) -> bool {
    let id = ObjectId::of(object).entry_id();
    recorded.entries.iter().any(|entry| entry.id == id && entry.uid.is_some())
}

/// Forgets the uid of an object that is gone: the next one of its name will have another.
pub fn forget_uid(inventory: &mut Inventory, object: &Value) {
    let id = ObjectId::of(object).entry_id();
    for entry in inventory.entries.iter_mut().filter(|entry| entry.id == id) {
        entry.uid = None;
    }
}

/// Records the uids of objects that were applied.
pub fn confirm<'a>(inventory: &mut Inventory, live: impl IntoIterator<Item = &'a Value>) {
    for object in live {
        let seen = entry(object);
        if let Some(known) = inventory.entries.iter_mut().find(|known| known.id == seen.id) {
            *known = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use crds::status::{Inventory, InventoryEntry};
    use serde_json::{Value, json};

    use super::{confirm, forget_uid, intent, is_confirmed, stale};

    fn object(name: &str, uid: Option<&str>) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "n", "uid": uid}})
    }

    fn recorded(entries: &[(&str, Option<&str>)]) -> Inventory {
        let entry = |(name, uid): &(&str, Option<&str>)| InventoryEntry {
            id: format!("n_{name}_apps_Deployment"),
            v: "v1".to_owned(),
            uid: uid.map(str::to_owned),
        };
        Inventory { entries: entries.iter().map(entry).collect() }
    }

    #[test]
    fn the_intent_holds_everything_that_may_exist() {
        let old = recorded(&[("gone", Some("1")), ("kept", Some("2"))]);
        let desired = [object("new", None), object("kept", None)];
        assert_eq!(
            intent(&old, &desired),
            recorded(&[("new", None), ("kept", Some("2")), ("gone", Some("1"))])
        );
    }

    #[test]
    fn stale_objects_are_those_that_are_not_desired() {
        let old = recorded(&[("a", None), ("b", None), ("c", None)]);
        let stale: Vec<String> = stale(&old, &[object("b", None)]).map(|entry| entry.id.clone()).collect();
        assert_eq!(stale, ["n_a_apps_Deployment", "n_c_apps_Deployment"]);
    }

    #[test]
    fn an_object_is_confirmed_with_its_uid() {
        let mut inventory = intent(&Inventory::default(), &[object("a", None), object("b", None)]);
        assert!(!is_confirmed(&inventory, &object("a", None)));
        confirm(&mut inventory, [&object("a", Some("1"))]);
        assert!(is_confirmed(&inventory, &object("a", None)));
        assert!(!is_confirmed(&inventory, &object("b", None)));
        assert_eq!(inventory, recorded(&[("a", Some("1")), ("b", None)]));
        forget_uid(&mut inventory, &object("a", None));
        assert!(!is_confirmed(&inventory, &object("a", None)));
    }
}
